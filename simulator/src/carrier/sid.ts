import { randomBytes } from 'node:crypto'

/** A fresh identifier of the carrier's form: two letters for the kind, then 32 hex digits. */
export function makeSid(kind: 'CA' | 'MZ' | 'PN' | 'AC' | 'CF'): string {
  return kind + randomBytes(16).toString('hex')
}

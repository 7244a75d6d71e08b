import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './seal.ts'

const DIGITS = 32

/** The strong, quoted ETag of a value without secrets: the same value has the same one. */
export function etagOf(value: unknown): string {
  return `"${sha256(canonicalJson(value)).toString('hex').slice(0, DIGITS)}"`
}

import { AppError } from './errors.ts'

/** By which a request may be repeated, and what tells it from another one. */
export type RequestKey = {
  key: string
  /** SHA-256 of the canonical body: another body under the same key is a mistake. */
  bodyHash: Buffer
}

/** How long a key is kept. */
export const KEY_MS = 86_400_000

/** @throws AppError `idempotency_mismatch` when the key was taken for another body. */
export function expectSameBody({ bodyHash }: RequestKey, taken: Buffer): void {
  if (taken.equals(bodyHash)) return
  throw new AppError('idempotency_mismatch', 'The Idempotency-Key was used with another body: use a new one.')
}

import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { secretsEqual, sha256 } from '../../kernel/seal.ts'
import { addressKey } from './trust.ts'

/** As with logins: so many different wrong keys of an address within this time, and none of its keys is looked at. */
const MAX_WRONG = 10
const WINDOW_MS = 15 * 60_000
/** At so many the address that first sent a wrong one is forgotten. */
const MAX_ADDRESSES = 10_000

/**
 * The key of the administration. A long one is not guessed; one that a person thought of could be, were any number of guesses looked
 * at. A wrong key that is sent again teaches nothing, and is not counted again: a program with an old one shuts nobody out.
 */
export class AdminKey {
  readonly #key: string
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** By address: when it first sent each wrong key, by the digest of that; oldest first. */
  readonly #wrong = new Map<string, Map<string, number>>()

  constructor(key: string, clock: Pick<Clock, 'monotonicMs'>) {
    this.#key = key
    this.#clock = clock
  }

  /** Whether it is the key; the refusal with Retry-After, for the right one too, after ten wrong ones of its address. */
  look(given: string, ip: string): boolean | AppError {
    const address = addressKey(ip)
    const wrong = this.#wrongOf(address)
    const [first] = wrong.values()
    if (wrong.size >= MAX_WRONG && first !== undefined) return tooMany(first + WINDOW_MS - this.#clock.monotonicMs())
    if (secretsEqual(given, this.#key)) return true
    const digest = sha256(given).toString('base64')
    if (!wrong.has(digest)) this.#keep(address, wrong.set(digest, this.#clock.monotonicMs()))
    return false
  }

  #wrongOf(address: string): Map<string, number> {
    const wrong = this.#wrong.get(address) ?? new Map<string, number>()
    for (const [digest, atMs] of wrong) if (this.#clock.monotonicMs() - atMs >= WINDOW_MS) wrong.delete(digest)
    return wrong
  }

  #keep(address: string, wrong: Map<string, number>): void {
    this.#wrong.set(address, wrong)
    const [oldest] = this.#wrong.keys()
    if (this.#wrong.size > MAX_ADDRESSES && oldest !== undefined) this.#wrong.delete(oldest)
  }
}

function tooMany(waitMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const headers = { 'retry-after': String(seconds) }
  return new AppError('rate_limited', `Too many wrong admin keys: wait ${seconds} s before the next one.`, { headers })
}

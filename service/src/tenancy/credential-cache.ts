import type { TenantId } from '../kernel/ids.ts'

/** Whose credential it is, and of which kind: an API key or the tenant document's legacy bearer token. */
export type Credential = { tenantId: TenantId; via: 'api_key' | 'legacy' }

/** What a look-up notes before it asks the database, so that its answer is not kept when it is stale. */
type LookUp = { startedMs: number; generation: number }

type Entry = { credential: Credential; freshUntilMs: number }

/** Half of the second within which every node must refuse what another one has revoked. */
const FRESH_MS = 500
const MAX_ENTRIES = 1_000

/**
 * Remembers for half a second whose a good credential is, so that a burst of requests asks the database once.
 *
 * What is not good is never remembered: guessing would fill the cache, and a key that was just made must work at once.
 * At 1,000 entries the oldest goes. Times are of one monotonic clock, in milliseconds.
 */
export class CredentialCache {
  readonly #entries = new Map<string, Entry>()
  #generation = 0

  get(tokenHash: string, nowMs: number): Credential | null {
    const entry = this.#entries.get(tokenHash)
    if (!entry) return null
    if (nowMs < entry.freshUntilMs) return entry.credential
    this.#entries.delete(tokenHash)
    return null
  }

  begin(nowMs: number): LookUp {
    return { startedMs: nowMs, generation: this.#generation }
  }

  /** Keeps what a look-up found, from when it began: the answer may be that old. Dropped when `forget` came between. */
  put(tokenHash: string, credential: Credential, lookUp: LookUp): void {
    if (lookUp.generation !== this.#generation) return
    this.#entries.delete(tokenHash)
    this.#entries.set(tokenHash, { credential, freshUntilMs: lookUp.startedMs + FRESH_MS })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest)
  }

  /** Forgets the tenant's credentials at once, also those that are being looked up. */
  forget(tenantId: TenantId): void {
    this.#generation += 1
    for (const [tokenHash, { credential }] of this.#entries) {
      if (credential.tenantId === tenantId) this.#entries.delete(tokenHash)
    }
  }

  get size(): number {
    return this.#entries.size
  }
}

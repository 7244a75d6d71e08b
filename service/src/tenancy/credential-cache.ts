import type { TenantId } from '../kernel/ids.ts'
import { type CredentialCount, CredentialCounts } from './credential-counts.ts'

/** Whose credential it is. */
export type Credential = { tenantId: TenantId }

/** What a look-up notes before it asks the database, so that its answer is not kept when it is stale. */
type LookUp = { startedMs: number; generation: number }

/** What became of a credential. The key names it by its hash and tells nothing of it. */
export type CredentialMetrics = CredentialCount & { cacheKey: string; isCached: boolean }

type Entry = { credential: Credential; freshUntilMs: number }

/** Half of the second within which every node must refuse what another one has revoked. */
const FRESH_MS = 500
const MAX_ENTRIES = 1_000
/** Enough to tell credentials apart, too little to find one by. */
const KEY_DIGITS = 12

/**
 * Remembers for half a second whose a good credential is, so that a burst of requests asks the database once.
 *
 * What is not good is never remembered: guessing would fill the cache, and a key that was just made must work at once.
 * At 1,000 entries the oldest goes. Times are of one monotonic clock, in milliseconds.
 */
export class CredentialCache {
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new CredentialCounts()
  #generation = 0

  get(tokenHash: string, nowMs: number): Credential | null {
    const entry = this.#entries.get(tokenHash)
    if (!entry) return null
    if (nowMs < entry.freshUntilMs) {
      this.#counts.hit(tokenHash, entry.credential.tenantId)
      return entry.credential
    }
    this.#entries.delete(tokenHash)
    return null
  }

  /** Whether it was good when it was asked for last, as far as that is remembered. */
  wasGood(tokenHash: string): boolean {
    return this.#counts.has(tokenHash)
  }

  begin(nowMs: number): LookUp {
    return { startedMs: nowMs, generation: this.#generation }
  }

  /** Keeps what a look-up found, from when it began: the answer may be that old. Dropped when `forget` came between. */
  put(tokenHash: string, credential: Credential, lookUp: LookUp): void {
    this.#counts.lookedUp(tokenHash, credential.tenantId)
    if (lookUp.generation !== this.#generation) return
    this.#entries.delete(tokenHash)
    this.#entries.set(tokenHash, { credential, freshUntilMs: lookUp.startedMs + FRESH_MS })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size <= MAX_ENTRIES || oldest === undefined) return
    this.#entries.delete(oldest)
    this.#counts.evicted(oldest)
  }

  /** Forgets the tenant's credentials at once, also those that are being looked up. */
  forget(tenantId: TenantId): void {
    this.#generation += 1
    for (const [tokenHash, { credential }] of this.#entries) {
      if (credential.tenantId === tenantId) this.#entries.delete(tokenHash)
    }
  }

  /** Of the credentials that were used last, `limit` at most, the last one first. */
  metrics(limit: number, nowMs: number): CredentialMetrics[] {
    return this.#counts.list(limit).map(([tokenHash, count]) => {
      const isCached = nowMs < (this.#entries.get(tokenHash)?.freshUntilMs ?? 0)
      return { ...count, cacheKey: `sha256:${tokenHash.slice(0, KEY_DIGITS)}`, isCached }
    })
  }

  get size(): number {
    return this.#entries.size
  }
}

import type { TenantId } from '../kernel/ids.ts'

/** How often a credential was asked for. A reload is a look-up of one that was looked up before. */
export type CredentialCount = { tenantId: TenantId; hits: number; misses: number; reloads: number; evictions: number }

const MAX_CREDENTIALS = 1_000

/** Counts what became of good credentials, by their hash; of the 1,000 that were used last. */
export class CredentialCounts {
  /** Least recently used first. */
  readonly #counts = new Map<string, CredentialCount>()

  hit(tokenHash: string, tenantId: TenantId): void {
    this.#used(tokenHash, tenantId).hits += 1
  }

  lookedUp(tokenHash: string, tenantId: TenantId): void {
    const isKnown = this.#counts.has(tokenHash)
    const count = this.#used(tokenHash, tenantId)
    if (isKnown) count.reloads += 1
    else count.misses += 1
  }

  has(tokenHash: string): boolean {
    return this.#counts.has(tokenHash)
  }

  evicted(tokenHash: string): void {
    const count = this.#counts.get(tokenHash)
    if (count) count.evictions += 1
  }

  /** Most recently used first. */
  list(limit: number): [tokenHash: string, count: CredentialCount][] {
    return [...this.#counts].toReversed().slice(0, limit)
  }

  #used(tokenHash: string, tenantId: TenantId): CredentialCount {
    const count = this.#counts.get(tokenHash) ?? { tenantId, hits: 0, misses: 0, reloads: 0, evictions: 0 }
    this.#counts.delete(tokenHash)
    this.#counts.set(tokenHash, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > MAX_CREDENTIALS && oldest !== undefined) this.#counts.delete(oldest)
    return count
  }
}

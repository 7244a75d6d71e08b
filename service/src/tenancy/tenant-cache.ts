import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { TenantRuntime } from './tenant-runtime.ts'

/** A tenant as a call needs it, and the ETag of the document it was made of. */
type LoadedTenant = { etag: string; runtime: TenantRuntime }

/** Where the cache gets tenants from. Null: there is no such tenant. */
export type TenantSource = {
  load(tenantId: TenantId): Promise<LoadedTenant | null>
  /** Only the ETag: much cheaper than `load`. */
  etag(tenantId: TenantId): Promise<string | null>
}

/** A cached tenant as diagnostics show it. */
export type CachedTenant = LoadedTenant & { lastUsedAt: Date }

/** Counted since the start: a hit found an entry, a reload replaced one that had changed, an eviction made room. */
export type CacheCounters = { hits: number; misses: number; reloads: number; evictions: number }

type Entry = CachedTenant & { checkedAtMs: number }
type Query = { answer: Promise<TenantRuntime | null>; startedMs: number }
type Options = { clock: Clock; source: TenantSource; maxEntries?: number }

const MAX_ENTRIES = 1_000

/** An entry this old is compared with the database: so a change made on another node is seen here within a second. */
const FRESH_MS = 1_000

/** A caller is waiting: better the tenant as it was a second ago than a database that answers late. */
const CHECK_TIMEOUT_MS = 500

/** A question that is not answered in this time is asked anew: its connection may be gone, and others are there. */
const GIVE_UP_MS = 2_000

/**
 * The tenants that calls run by, without a query for each call.
 *
 * At 1,000 entries the least recently used one goes. Parallel calls for one tenant share one query. A tenant that does
 * not exist is not remembered, so that it is found as soon as it does. While the database does not answer, what is cached
 * is served as it is.
 */
export class TenantCache {
  readonly #clock: Clock
  readonly #source: TenantSource
  readonly #maxEntries: number
  /** Least recently used first. */
  readonly #entries = new Map<TenantId, Entry>()
  /** The one query of each tenant. One that is not in here any more was overtaken by `invalidate` and stores nothing. */
  readonly #queries = new Map<TenantId, Query>()
  readonly #counters: CacheCounters = { hits: 0, misses: 0, reloads: 0, evictions: 0 }

  constructor({ clock, source, maxEntries = MAX_ENTRIES }: Options) {
    this.#clock = clock
    this.#source = source
    this.#maxEntries = maxEntries
  }

  /**
   * The tenant, at most a second old while the database answers; null when there is none.
   *
   * @throws AppError `unavailable` for a tenant that is not cached while the database does not answer.
   */
  async get(tenantId: TenantId): Promise<TenantRuntime | null> {
    const entry = this.#entries.get(tenantId)
    if (!entry) {
      this.#counters.misses += 1
      return this.#once(tenantId, (isCurrent) => this.#load(tenantId, isCurrent))
    }
    this.#counters.hits += 1
    this.#use(tenantId, entry)
    if (this.#clock.monotonicMs() - entry.checkedAtMs < FRESH_MS) return entry.runtime
    return this.#recheck(tenantId, entry)
  }

  /** Forgets the tenant at once, also where it is being loaded: to be called when a change of it is committed. */
  invalidate(tenantId: TenantId): void {
    this.#entries.delete(tenantId)
    this.#queries.delete(tenantId)
  }

  /** What is cached now, least recently used first. */
  entries(): CachedTenant[] {
    return [...this.#entries.values()].map(({ etag, runtime, lastUsedAt }) => ({ etag, runtime, lastUsedAt }))
  }

  get size(): number {
    return this.#entries.size
  }

  /** Forgets the tenants that no call has asked for in longer than `maxIdleMs`. @returns how many. */
  evictIdle(maxIdleMs: number): number {
    const since = this.#clock.now() - maxIdleMs
    const idle = [...this.#entries].filter(([, { lastUsedAt }]) => lastUsedAt.getTime() < since)
    for (const [tenantId] of idle) this.#entries.delete(tenantId)
    this.#counters.evictions += idle.length
    return idle.length
  }

  /**
   * Reads a cached tenant again, however fresh it is; what is cached stays when that fails. It counts as no use of the tenant.
   *
   * @returns false when there is no such tenant any more, or it is not cached.
   * @throws what the source throws.
   */
  async reload(tenantId: TenantId): Promise<boolean> {
    const before = this.#entries.get(tenantId)
    if (!before) return false
    this.#counters.reloads += 1
    // A query that is running may have read what is there no more.
    this.#queries.delete(tenantId)
    const runtime = await this.#once(tenantId, (isCurrent) => this.#load(tenantId, isCurrent))
    const entry = this.#entries.get(tenantId)
    if (entry) entry.lastUsedAt = before.lastUsedAt
    return runtime !== null
  }

  get counters(): Readonly<CacheCounters> {
    return { ...this.#counters }
  }

  /** Joins the query that is running for this tenant, or starts it. */
  #once(tenantId: TenantId, start: (isCurrent: () => boolean) => Promise<TenantRuntime | null>) {
    const running = this.#queries.get(tenantId)
    if (running) return running.answer
    const startedMs = this.#clock.monotonicMs()
    const isCurrent = () => this.#queries.get(tenantId)?.answer === answer
    const answer: Promise<TenantRuntime | null> = start(isCurrent).finally(() => {
      if (isCurrent()) this.#queries.delete(tenantId)
    })
    this.#queries.set(tenantId, { answer, startedMs })
    return answer
  }

  #giveUp(tenantId: TenantId): void {
    const startedMs = this.#queries.get(tenantId)?.startedMs ?? Number.POSITIVE_INFINITY
    if (this.#clock.monotonicMs() - startedMs >= GIVE_UP_MS) this.#queries.delete(tenantId)
  }

  async #load(tenantId: TenantId, isCurrent: () => boolean): Promise<TenantRuntime | null> {
    // What is read may be as old as the question.
    const checkedAtMs = this.#clock.monotonicMs()
    const loaded = await this.#source.load(tenantId)
    if (!isCurrent()) return loaded?.runtime ?? null
    this.#entries.delete(tenantId)
    if (!loaded) return null
    this.#use(tenantId, { ...loaded, checkedAtMs, lastUsedAt: new Date(this.#clock.now()) })
    this.#makeRoom()
    return loaded.runtime
  }

  /** Nobody waits for long; what is answered later is kept all the same, for those who come then. */
  async #recheck(tenantId: TenantId, entry: Entry): Promise<TenantRuntime | null> {
    const startedMs = this.#clock.monotonicMs()
    const refreshed = this.#once(tenantId, (isCurrent) => this.#refresh(tenantId, entry, isCurrent))
    try {
      return await withTimeout(this.#clock, refreshed, CHECK_TIMEOUT_MS, tooLate)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
      // As if it had been checked: asking again at every call would make each of them wait.
      entry.checkedAtMs = startedMs
      this.#giveUp(tenantId)
      return entry.runtime
    }
  }

  async #refresh(tenantId: TenantId, entry: Entry, isCurrent: () => boolean): Promise<TenantRuntime | null> {
    const startedMs = this.#clock.monotonicMs()
    const etag = await this.#source.etag(tenantId)
    if (etag !== entry.etag) {
      this.#counters.reloads += 1
      return this.#load(tenantId, isCurrent)
    }
    entry.checkedAtMs = Math.max(entry.checkedAtMs, startedMs)
    return entry.runtime
  }

  #use(tenantId: TenantId, entry: Entry): void {
    entry.lastUsedAt = new Date(this.#clock.now())
    this.#entries.delete(tenantId)
    this.#entries.set(tenantId, entry)
  }

  #makeRoom(): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size <= this.#maxEntries || oldest === undefined) return
    this.#entries.delete(oldest)
    this.#counters.evictions += 1
  }
}

function tooLate(): AppError {
  return new AppError('unavailable', 'The database is not reachable. Try again.')
}

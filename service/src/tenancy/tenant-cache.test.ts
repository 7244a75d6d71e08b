import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { NO_ACCOUNT } from './no-account.fixture.ts'
import { TenantCache, type TenantSource } from './tenant-cache.ts'
import { toRuntime } from './tenant-defaults.ts'
import type { TenantRuntime } from './tenant-runtime.ts'

const acme = 'acme' as TenantId

/** Tenants in memory, whose answers a test can hold back, fail or count. */
class Tenants implements TenantSource {
  readonly names = new Map<TenantId, string>()
  loads = 0
  checks = 0
  /** Awaited after an answer was read and before it is given. */
  gate: Promise<void> = Promise.resolve()
  failure: Error | null = null

  async load(tenantId: TenantId) {
    this.loads += 1
    const name = this.names.get(tenantId)
    await this.#answer()
    return name === undefined ? null : { etag: name, runtime: toRuntime({ tenant_id: tenantId, name }, NO_ACCOUNT) }
  }

  async etag(tenantId: TenantId) {
    this.checks += 1
    const name = this.names.get(tenantId)
    await this.#answer()
    return name ?? null
  }

  async #answer(): Promise<void> {
    if (this.failure) throw this.failure
    await this.gate
  }
}

function setUp(maxEntries?: number) {
  const clock = new TestClock()
  const source = new Tenants()
  source.names.set(acme, 'one')
  const cache = new TenantCache({ clock, source, ...(maxEntries && { maxEntries }) })
  return { clock, source, cache }
}

function held(): { promise: Promise<void>; resolve: () => void } {
  return Promise.withResolvers<void>()
}

const nameOf = (runtime: TenantRuntime | null) => runtime?.name

describe('TenantCache', () => {
  it('asks once for a tenant that 100 calls want at the same time, and not again while that is fresh', async () => {
    const { clock, source, cache } = setUp()
    const runtimes = await Promise.all(Array.from({ length: 100 }, () => cache.get(acme)))
    expect(new Set(runtimes).size).toBe(1)
    await clock.advance(999)
    expect(await cache.get(acme)).toBe(runtimes[0])
    expect([source.loads, source.checks]).toEqual([1, 0])
    expect(cache.counters).toEqual({ hits: 1, misses: 100, reloads: 0, evictions: 0 })
  })

  it('sees a change made elsewhere once the entry is a second old, with one look at the ETag for all who wait', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.names.set(acme, 'two')
    await clock.advance(999)
    expect(nameOf(await cache.get(acme))).toBe('one')
    await clock.advance(1)
    const seen = await Promise.all([cache.get(acme), cache.get(acme)])
    expect(seen.map(nameOf)).toEqual(['two', 'two'])
    expect([source.loads, source.checks, cache.counters.reloads]).toEqual([2, 1, 1])
  })

  it('loads nothing again when the ETag is the same', async () => {
    const { clock, source, cache } = setUp()
    const before = await cache.get(acme)
    await clock.advance(1_000)
    expect(await cache.get(acme)).toBe(before)
    await clock.advance(999)
    await cache.get(acme)
    expect([source.loads, source.checks]).toEqual([1, 1])
  })

  it('counts the age from the question, not from the answer', async () => {
    const { clock, source, cache } = setUp()
    const gate = held()
    source.gate = gate.promise
    const first = cache.get(acme)
    source.names.set(acme, 'two')
    await clock.advance(1_000)
    gate.resolve()
    expect(nameOf(await first)).toBe('one')
    expect(nameOf(await cache.get(acme))).toBe('two')
  })

  it('does not remember that a tenant is missing', async () => {
    const { source, cache } = setUp()
    const globex = 'globex' as TenantId
    expect(await cache.get(globex)).toBeNull()
    source.names.set(globex, 'new')
    expect(nameOf(await cache.get(globex))).toBe('new')
  })

  it('forgets a tenant that was deleted elsewhere', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.names.delete(acme)
    await clock.advance(1_000)
    expect(await cache.get(acme)).toBeNull()
    expect(cache.entries()).toEqual([])
  })

  it('answers anew at once after an invalidation, and keeps nothing of a load that began before it', async () => {
    const { source, cache } = setUp()
    const gate = held()
    source.gate = gate.promise
    const early = cache.get(acme)
    source.names.set(acme, 'two')
    cache.invalidate(acme)
    source.gate = Promise.resolve()
    expect(nameOf(await cache.get(acme))).toBe('two')
    gate.resolve()
    expect(nameOf(await early)).toBe('one')
    expect(nameOf(await cache.get(acme))).toBe('two')
  })

  it('keeps nothing of a reload that an invalidation overtook', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.names.set(acme, 'two')
    await clock.advance(1_000)
    const early = cache.get(acme)
    const gate = held()
    source.gate = gate.promise // The look at the ETag is let through, the reload after it is held.
    await until(() => source.loads === 2, { what: 'the reload' })
    source.names.set(acme, 'three')
    cache.invalidate(acme)
    gate.resolve()
    expect(nameOf(await early)).toBe('two')
    expect(cache.entries()).toEqual([])
    expect(nameOf(await cache.get(acme))).toBe('three')
  })

  it('lets an overtaken load end without a trace on the one that came after it', async () => {
    const { source, cache } = setUp()
    const [first, second] = [held(), held()]
    source.gate = first.promise
    const early = cache.get(acme)
    cache.invalidate(acme)
    source.gate = second.promise
    const late = cache.get(acme)
    first.resolve()
    await early
    const joined = cache.get(acme)
    second.resolve()
    expect(await joined).toBe(await late)
    expect(source.loads).toBe(2)
    expect(cache.entries()).toHaveLength(1)
  })

  it('serves what it has while the database is not reachable, and asks again each second', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.failure = new AppError('unavailable', 'down')
    await clock.advance(1_000)
    expect(nameOf(await cache.get(acme))).toBe('one')
    expect(nameOf(await cache.get(acme))).toBe('one')
    expect(source.checks).toBe(1)
    await expect(cache.get('globex' as TenantId)).rejects.toMatchObject({ code: 'unavailable' })

    source.failure = null
    source.names.set(acme, 'two')
    await clock.advance(1_000)
    expect(nameOf(await cache.get(acme))).toBe('two')
  })

  it('serves what it has after half a second when the database hangs', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    const gate = held()
    source.gate = gate.promise
    await clock.advance(1_000)
    const waiting = cache.get(acme)
    await clock.advance(500)
    expect(nameOf(await waiting)).toBe('one')
    expect(clock.pendingTimers).toBe(0)
    gate.resolve()
  })

  it('sees a change made elsewhere though the database takes longer than that, and its ETag alone a second', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.names.set(acme, 'two')
    const [etag, load] = [held(), held()]
    source.gate = etag.promise
    for (const _second of [1, 2]) {
      await clock.advance(500)
      const waiting = cache.get(acme)
      await clock.advance(500)
      expect(nameOf(await waiting)).toBe('one')
    }
    source.gate = load.promise
    etag.resolve()
    await until(() => source.loads === 2, { what: 'the document to be asked for' })
    load.resolve()
    await until(async () => nameOf(await cache.get(acme)) === 'two', { what: 'the change to be seen' })
    expect([source.checks, source.loads]).toEqual([1, 2])
  })

  it('asks anew once a question was not answered for two seconds', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    source.names.set(acme, 'two')
    const gate = held()
    source.gate = gate.promise
    for (const _second of [1, 2, 3, 4]) {
      await clock.advance(500)
      const waiting = cache.get(acme)
      await clock.advance(500)
      expect(nameOf(await waiting)).toBe('one')
    }
    source.gate = Promise.resolve()
    await clock.advance(500)
    expect(nameOf(await cache.get(acme))).toBe('two')
    gate.resolve()
  })

  it('tells of a failure that is not the database being away, and asks again', async () => {
    const { clock, source, cache } = setUp()
    await cache.get(acme)
    await clock.advance(1_000)
    source.failure = new Error('not a sealed text')
    await expect(cache.get(acme)).rejects.toThrow('not a sealed text')
    source.failure = null
    expect(nameOf(await cache.get(acme))).toBe('one')
  })

  it('holds so many and no more: the one that was used longest ago goes', async () => {
    const { clock, source, cache } = setUp(2)
    const [globex, initech] = ['globex', 'initech'] as [TenantId, TenantId]
    for (const tenantId of [globex, initech]) source.names.set(tenantId, tenantId)
    await cache.get(acme)
    await clock.advance(10)
    await cache.get(globex)
    await clock.advance(10)
    await cache.get(acme)
    await cache.get(initech)
    expect(cache.entries().map(({ runtime }) => runtime.tenant_id)).toEqual([acme, initech])
    expect(cache.entries().map(({ lastUsedAt }) => lastUsedAt.getTime())).toEqual([clock.now(), clock.now()])
    expect(cache.counters).toEqual({ hits: 1, misses: 3, reloads: 0, evictions: 1 })
  })
})

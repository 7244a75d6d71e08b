import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeLog } from '../../platform/log.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import type { CallbackTaskId } from '../callback-task-store.ts'
import { SweepRun, type SweptTask } from './sweep-run.ts'

const log = makeLog({ level: 'silent', secrets: [] })

/** Of which tenants a sweep of so many rows does how much; `tasks`: how many each has, in the order in which they come. */
async function swept(limitRows: number, lanes: number, tasks: Record<string, number>): Promise<Record<string, number>> {
  const tenants = { get: async (id: TenantId) => tenantTold(id) }
  const deps = { clock: new TestClock(0), log, tenants, isStopping: () => false }
  const run = new SweepRun(deps, { tenantId: null, limitRows, emitWebhooks: false })
  const done = new Set<string>()
  await run.goThrough<SweptTask>({
    lanes,
    tenants: async () => Object.keys(tasks) as TenantId[],
    async tasks({ tenant_id: id }, { limit, except }) {
      const all = Array.from({ length: tasks[id] ?? 0 }, (_, n) => `${id}-${n}` as CallbackTaskId)
      const left = all.filter((task) => !done.has(task) && !except.includes(task))
      return left.slice(0, limit).map((task) => ({ id: task, queue_key: 'default' }))
    },
    async take(_tenant, { id }) {
      done.add(id)
      return { item: { outcome: 'alerted' }, webhooks: 0 }
    },
  })
  const countOf = (id: string) => run.items.filter(({ tenant_id }) => tenant_id === id).length
  return Object.fromEntries(Object.keys(tasks).map((id) => [id, countOf(id)]))
}

describe('a sweep with less than all tenants could have', () => {
  it('gives each an equal share, and what some do not need to those who have more', async () => {
    expect(await swept(6, 2, { acme: 1, globex: 9, initech: 9 })).toEqual({ acme: 1, globex: 3, initech: 2 })
  })

  it('passes over nobody because others, who have nothing to do, are being looked at', async () => {
    expect(await swept(1, 2, { acme: 0, globex: 3 })).toEqual({ acme: 0, globex: 1 })
    expect(await swept(2, 8, { a: 0, b: 0, c: 0, d: 0, e: 2 })).toEqual({ a: 0, b: 0, c: 0, d: 0, e: 2 })
  })

  it('leaves nothing undone that is allowed, where those who were passed over have nothing to do', async () => {
    expect(await swept(4, 8, { a: 9, b: 0, c: 0, d: 0, e: 0 })).toEqual({ a: 4, b: 0, c: 0, d: 0, e: 0 })
    expect(await swept(20, 8, { a: 30, b: 0, c: 0, d: 0, e: 0, f: 0, g: 0, h: 0 })).toMatchObject({ a: 20 })
    expect(await swept(16, 8, { a: 4, b: 9, c: 9, d: 0 })).toEqual({ a: 4, b: 6, c: 6, d: 0 })
    expect(await swept(16, 8, { a: 4, b: 30, c: 0, d: 0 })).toEqual({ a: 4, b: 12, c: 0, d: 0 })
  })

  it('does no more than that', async () => {
    expect(await swept(2, 8, { acme: 5, globex: 5, initech: 5 })).toEqual({ acme: 1, globex: 1, initech: 0 })
  })
})

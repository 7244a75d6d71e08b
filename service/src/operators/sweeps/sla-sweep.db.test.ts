import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../../test/harness/admin-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken } from '../../../test/harness/tenant-server.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import type { Weekday } from '../operator-queue-store.ts'
import { type SlaSweepResult, sweepSla } from './sla-sweep.ts'
import { ACME, sweepBench } from './sweeps.fixture.ts'

type Answer = { ok: boolean; result: SlaSweepResult; code: string }

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
const NOTHING = { attempted_tenants: 0, evaluated_tenants: 0, items: [], failures: [] }
const GLOBEX = 'globex' as TenantId

const test = useDatabase()
let clock = new TestClock()
const { desk, known, create, read, setQueue, told, newestChange, routes } = sweepBench(test, () => clock)
const admin = useAdminServer(() => [routes({ sla: (ask) => sweepSla(known(), ask) })])

beforeEach(async () => {
  // A Tuesday in winter: 09:00 in Berlin.
  clock = new TestClock(Date.parse('2030-01-08T08:00:00.000Z'))
  for (const id of [ACME, GLOBEX]) await makeTenantWithToken(test.db, id)
})

async function sweep(query = '?emit_webhooks=true'): Promise<SlaSweepResult> {
  const { status, body } = await admin.call<Answer>('POST', `/operator-queues/sweep${query}`)
  expect(status).toBe(200)
  return body.result
}

const breaches = () => told('operator_queue.sla_breached')
const inMinutes = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS)

describe('POST operator-queues/sweep', () => {
  it('finds nothing where nothing is late', async () => {
    await create()
    await clock.advance(30 * MINUTE_MS)
    expect(await sweep()).toEqual({ ...NOTHING, overdue_tasks: 0, alerts_recorded: 0, webhooks_enqueued: 0 })
  })

  it('alerts once for each time by which a task was to be done', async () => {
    const { id, sla_due_at } = await create()
    await clock.advance(31 * MINUTE_MS)
    const item = { tenant_id: 'acme', task_id: id, queue_key: 'default', sla_due_at: sla_due_at.toISOString() }
    expect(await sweep()).toEqual({
      ...{ attempted_tenants: 1, evaluated_tenants: 1, failures: [], items: [{ ...item, outcome: 'alerted' }] },
      ...{ overdue_tasks: 1, alerts_recorded: 1, webhooks_enqueued: 1 },
    })
    const alerted = { last_sla_alert_due_at: sla_due_at, last_sla_alerted_at: new Date(clock.now()) }
    expect(await read(id)).toMatchObject(alerted)
    expect(await breaches()).toMatchObject([
      { event: 'operator_queue.sla_breached', body: { tenant_id: 'acme', payload: { task: { id } } } },
    ])
    expect(await newestChange(id)).toMatchObject({ action: 'alert', operator: null })
    expect(await sweep()).toMatchObject({
      ...{ items: [{ ...item, outcome: 'already_alerted' }], overdue_tasks: 1, alerts_recorded: 0 },
      webhooks_enqueued: 0,
    })
    await desk().edit(ACME, id, { edit: { sla_due_at: inMinutes(5) } }, null)
    expect(await sweep()).toMatchObject({ items: [] })
    await clock.advance(6 * MINUTE_MS)
    expect(await sweep()).toMatchObject({ alerts_recorded: 1 })
    expect(await breaches()).toHaveLength(2)
  })

  it('tells webhooks only when it is asked to', async () => {
    await create()
    await clock.advance(31 * MINUTE_MS)
    expect(await sweep('')).toMatchObject({ alerts_recorded: 1, webhooks_enqueued: 0 })
    expect(await breaches()).toEqual([])
  })

  it('waits for no task that was put off or is done', async () => {
    const [snoozed, done] = [await create(), await create()]
    const until = new Date(clock.now() + DAY_MS)
    const by = { operator: null, note: null, details: {}, event: null }
    await desk().move(ACME, snoozed.id, () => ({
      ...{ ...by, action: 'snooze', from: ['open'], set: { status: 'snoozed', snoozed_until: until } },
    }))
    await desk().move(ACME, done.id, () => ({ ...by, action: 'cancel', from: ['open'], set: { status: 'cancelled' } }))
    await clock.advance(31 * MINUTE_MS)
    expect(await sweep()).toMatchObject({ items: [] })
  })

  describe('outside the business hours of a queue', () => {
    const workdays: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri']
    const office = [{ days: workdays, start: '09:00', end: '17:00' }]
    const berlin = { business_hours: office, timezone: 'Europe/Berlin', sla_minutes: 60 }

    it('lets the time stand still', async () => {
      await setQueue(berlin)
      const { id } = await create({ sla_due_at: new Date('2030-01-08T18:00:00.000Z') })
      const other = await create({ queue_key: 'always', sla_due_at: new Date('2030-01-08T18:00:00.000Z') })
      clock = new TestClock(Date.parse('2030-01-09T07:59:59.000Z'))
      expect((await sweep()).items).toMatchObject([{ task_id: other.id, outcome: 'alerted' }])
      clock = new TestClock(Date.parse('2030-01-09T08:00:01.000Z'))
      expect((await sweep()).items).toMatchObject([{ task_id: id, outcome: 'alerted' }, { outcome: 'already_alerted' }])
    })

    it('alerts what was late before they ended', async () => {
      await setQueue(berlin)
      const { id } = await create({ sla_due_at: new Date('2030-01-08T15:30:00.000Z') })
      clock = new TestClock(Date.parse('2030-01-08T20:00:00.000Z'))
      expect((await sweep()).items).toMatchObject([{ task_id: id, outcome: 'alerted' }])
    })

    it('counts by the clocks of the place, also where they change over a weekend', async () => {
      await setQueue(berlin)
      clock = new TestClock(Date.parse('2030-03-29T15:30:00.000Z'))
      const { id, sla_due_at } = await create()
      expect(sla_due_at.toISOString()).toBe('2030-04-01T07:30:00.000Z')
      clock = new TestClock(Date.parse('2030-04-01T07:30:00.000Z'))
      expect((await sweep()).items).toEqual([])
      await clock.advance(1)
      expect((await sweep()).items).toMatchObject([{ task_id: id }])
    })
  })

  it('does as much as the limit allows, an equal share for each tenant', async () => {
    for (let count = 0; count < 4; count += 1) await create()
    const lonely = await create({}, GLOBEX)
    await clock.advance(31 * MINUTE_MS)
    expect(await sweep('?limit=0')).toMatchObject({ ...NOTHING, overdue_tasks: 0 })
    const { items } = await sweep('?limit=4')
    expect(items).toHaveLength(4)
    expect(items.map(({ task_id }) => task_id)).toContain(lonely.id)
    expect(await sweep()).toMatchObject({ overdue_tasks: 5, alerts_recorded: 1, attempted_tenants: 2 })
  })

  it('looks at one tenant alone when it is given its token', async () => {
    const [own] = [await create(), await create({}, GLOBEX)]
    await clock.advance(31 * MINUTE_MS)
    const { items } = await sweep('?auth_token=bearer-token-of-acme')
    expect(items).toMatchObject([{ task_id: own.id }])
    const body = { auth_token: 'bearer-token-of-acme' }
    expect(await admin.call('POST', '/operator-queues/sweep', { body })).toMatchObject({
      body: { result: { attempted_tenants: 1, items: [{ task_id: own.id }] } },
    })
    const twice = await admin.call('POST', '/operator-queues/sweep?auth_token=bearer-token-of-acme', { body })
    expect(twice).toMatchObject({ status: 400, body: { details: [{ path: '/body/auth_token' }] } })
    expect(await admin.call('POST', '/operator-queues/sweep?auth_token=bearer-token-of-nobody')).toMatchObject({
      status: 401,
      body: { ok: false, code: 'unauthorized' },
    })
  })

  it('goes on with other tasks and tenants where one fails', async () => {
    const [poisoned, sound, other] = [await create(), await create(), await create({}, GLOBEX)]
    await clock.advance(31 * MINUTE_MS)
    await sql`alter table callback_tasks add constraint poison
              check (last_sla_alerted_at is null or id <> ${sql.lit(poisoned.id)})`.execute(test.db)
    try {
      const { items, failures, evaluated_tenants } = await sweep()
      expect(items.map(({ task_id }) => task_id).toSorted()).toEqual([sound.id, other.id].toSorted())
      expect(failures).toEqual([
        { tenant_id: 'acme', task_id: poisoned.id, error: 'This failed inside the service: its log says why.' },
      ])
      expect(evaluated_tenants).toBe(2)
    } finally {
      await sql`alter table callback_tasks drop constraint poison`.execute(test.db)
    }
  })

  it('goes on with other tenants where one cannot be read', async () => {
    await create()
    const other = await create({}, GLOBEX)
    await clock.advance(31 * MINUTE_MS)
    const get = async (id: TenantId) => {
      if (id === ACME) throw new Error('sealed with another key')
      return tenantTold(id)
    }
    const ask = { tenantId: null, limitRows: 10, emitWebhooks: false }
    const result = await sweepSla({ ...known(), tenants: { get } }, ask)
    expect(result).toMatchObject({
      ...{ attempted_tenants: 2, evaluated_tenants: 1, items: [{ task_id: other.id }] },
      failures: [{ tenant_id: 'acme' }],
    })
  })

  it('alerts each task once, however many sweep at once', async () => {
    for (let count = 0; count < 10; count += 1) await create()
    await clock.advance(31 * MINUTE_MS)
    const nodes = await Promise.all([test.anotherNode(), test.anotherNode(), test.anotherNode()])
    const ask = { tenantId: null, limitRows: 100, emitWebhooks: true }
    const results = await Promise.all(nodes.map(({ db }) => sweepSla(known(db), ask)))
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    const alerted = results.flatMap(({ items }) => items).filter(({ outcome }) => outcome === 'alerted')
    expect(new Set(alerted.map(({ task_id }) => task_id)).size).toBe(10)
    expect(alerted).toHaveLength(10)
    expect(await breaches()).toHaveLength(10)
  })

  it('is for administrators, and asked for as described', async () => {
    for (const query of ['limit=10001', 'limit=-1', 'limit=some', 'emit_webhooks=maybe', 'colour=blue'])
      expect(await admin.call('POST', `/operator-queues/sweep?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', details: [{ path: `/query/${query.split('=')[0]}` }] },
      })
    expect(await admin.call('POST', '/operator-queues/sweep', { adminKey: null })).toMatchObject({ status: 401 })
  })
})

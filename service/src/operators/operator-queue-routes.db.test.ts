import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { zonesAsked } from '../../test/harness/zones-asked.ts'
import { makeAgents } from '../agents/agents.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import { callbackTaskAdminRoutes } from './callback-task-admin-routes.ts'
import { makeTaskDesk } from './callback-task-desk.ts'
import { callbackTaskRoutes } from './callback-task-routes.ts'
import type { CallbackTaskId } from './callback-task-store.ts'
import { operatorQueueAdminRoutes } from './operator-queue-admin-routes.ts'
import { operatorQueueRoutes } from './operator-queue-routes.ts'
import { makeOperatorQueues } from './operator-queues.ts'

type Task = { id: string; assigned_to: string | null }
type Queue = { queue_key: string } & Record<string, unknown>

const MINUTE_MS = 60_000
const DEFAULTS = {
  ...{
    name: null,
    sla_minutes: 30,
    timezone: null,
    business_hours: [],
    auto_dispatch: false,
    dispatch_agent_key: null,
  },
  ...{ max_attempts: 3, retry_minutes: 30, reminder_minutes: 15, escalate_after_minutes: 60, escalation_target: null },
}
const NOTHING_WAITS = { depth: 0, oldest: null, breached: 0, next_breach: null }

const test = useDatabase()
const log = makeLog({ level: 'silent', secrets: [] })
const clock = new TestClock()
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const desk = () => makeTaskDesk({ db: test.db, clock, log, tenants })
const queues = () => makeOperatorQueues({ db: test.db, clock, tenants })
const server = useTenantServer(
  () => test.db,
  () => [callbackTaskRoutes(desk()), operatorQueueRoutes({ queues: queues(), desk: desk() })],
)
const admin = useAdminServer(() => [operatorQueueAdminRoutes(queues()), callbackTaskAdminRoutes(desk())])

beforeEach(async () => {
  for (const id of ['acme', 'globex']) await makeTenantWithToken(test.db, id)
})

async function create(facts: Record<string, unknown> = {}, tenant = 'acme'): Promise<Task> {
  const body = { customer_phone: '+12025550101', ...facts }
  const answer = await server.call<{ task: Task }>(tenant, 'POST', '/callback-tasks', body)
  expect(answer.status).toBe(200)
  return answer.body.task
}

async function next(operator = 'ann', queue = 'default'): Promise<Task | null> {
  const path = `/operator-queues/${queue}/claim-next`
  const { status, body } = await server.call<{ task: Task | null }>('acme', 'POST', path, { operator })
  expect(status).toBe(200)
  return body.task
}

async function listed(query = '', tenant = 'acme'): Promise<{ queues: Queue[]; next_cursor: string | null }> {
  const { status, body } = await server.call<{ queues: Queue[]; next_cursor: string | null }>(
    tenant,
    'GET',
    `/operator-queues${query}`,
  )
  expect(status).toBe(200)
  return body
}

const put = (body: object, tenant = 'acme', queue = 'sales') =>
  admin.call('PUT', `/tenants/${tenant}/operator-queues/${queue}`, { body })
const inMinutes = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS).toISOString()

describe('claim-next', () => {
  it('gives the most urgent task, then the one whose time is over first, then the oldest', async () => {
    const late = await create({ sla_due_at: inMinutes(20) })
    await clock.advance(1)
    const later = await create({ sla_due_at: inMinutes(60) })
    const low = await create({ priority: 'low', sla_due_at: inMinutes(1) })
    const urgent = await create({ priority: 'urgent', sla_due_at: inMinutes(500) })
    const high = await create({ priority: 'high' })
    await create({ queue_key: 'sales', priority: 'urgent' })
    const order: (string | undefined)[] = []
    for (let count = 0; count < 5; count += 1) order.push((await next())?.id)
    expect(order).toEqual([urgent, high, late, later, low].map(({ id }) => id))
    expect(await next()).toBeNull()
    expect(await next('ann', 'sales')).toMatchObject({
      status: 'claimed',
      assigned_to: 'ann',
      claimed_at: inMinutes(0),
    })
  })

  it('gives no task before it is due', async () => {
    const { id } = await create({ due_at: inMinutes(5), priority: 'urgent' })
    expect(await next()).toBeNull()
    await clock.advance(5 * MINUTE_MS)
    expect(await next()).toMatchObject({ id })
  })

  it('gives twenty operators at once different tasks', async () => {
    const tasks = await Promise.all(Array.from({ length: 12 }, () => create()))
    const given = await Promise.all(Array.from({ length: 20 }, (_, index) => next(`operator ${index}`)))
    const taken = given.flatMap((task) => (task === null ? [] : [task.id]))
    expect(taken.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
  })

  it('asks who, and for a queue that can be', async () => {
    const path = '/operator-queues/default/claim-next'
    expect(await server.call('acme', 'POST', path, {})).toMatchObject({ status: 400 })
    expect(await server.call('acme', 'POST', '/operator-queues/Nope/claim-next', { operator: 'ann' })).toMatchObject({
      status: 400,
      body: { details: [{ path: '/path/queue_key' }] },
    })
    expect(await server.call(null, 'POST', path, { operator: 'ann' })).toMatchObject({ status: 401 })
  })

  it("gives no other tenant's task", async () => {
    await create({}, 'globex')
    expect(await next()).toBeNull()
  })
})

describe('GET operator-queues', () => {
  it('shows what waits in each, by key and page by page', async () => {
    const created_at = inMinutes(0)
    await create({ sla_due_at: inMinutes(1) })
    await put({ name: 'Sales', sla_minutes: 5 })
    await clock.advance(2 * MINUTE_MS)
    await create()
    await create({ queue_key: 'billing' })
    await create({ queue_key: 'elsewhere' }, 'globex')
    expect(await listed()).toEqual({
      ok: true,
      count: 3,
      queues: [
        { ...DEFAULTS, queue_key: 'billing', depth: 1, oldest: inMinutes(0), breached: 0, next_breach: inMinutes(30) },
        { ...DEFAULTS, queue_key: 'default', depth: 2, oldest: created_at, breached: 1, next_breach: inMinutes(30) },
        { ...DEFAULTS, queue_key: 'sales', name: 'Sales', sla_minutes: 5, ...NOTHING_WAITS },
      ],
      next_cursor: null,
    })
    const first = await listed('?limit=2')
    expect(first.queues.map(({ queue_key }) => queue_key)).toEqual(['billing', 'default'])
    expect((await listed(`?limit=2&cursor=${first.next_cursor}`)).queues).toMatchObject([{ queue_key: 'sales' }])
  })

  it('counts no task as late whose time ran out while the queue is closed, as no sweep does', async () => {
    const opening = { days: ['tue'], start: '00:00', end: '01:00' }
    await put({ business_hours: [opening] })
    const shown = async () => (await listed()).queues.find(({ queue_key }) => queue_key === 'sales')
    await create({ queue_key: 'sales', sla_due_at: inMinutes(30) })
    await create({ queue_key: 'sales', sla_due_at: inMinutes(60) })
    await create({ queue_key: 'sales', sla_due_at: inMinutes(90) })
    const [closing] = [inMinutes(60)]
    clock.jump(120 * MINUTE_MS)
    expect(await shown()).toMatchObject({ depth: 3, breached: 1, next_breach: closing })
    clock.jump((7 * 24 - 2) * 60 * MINUTE_MS + 1)
    expect(await shown()).toMatchObject({ depth: 3, breached: 3, next_breach: null })
  })

  it('lets calls go on while it looks at the hours of many', async () => {
    const business_hours = [{ days: ['mon', 'thu'], start: '09:00', end: '17:00' }]
    for (let n = 0; n < 12; n += 1) await put({ business_hours, timezone: 'Europe/Berlin' }, 'acme', `queue-${n}`)
    const { atOnce } = await zonesAsked(async () => expect((await listed()).queues).toHaveLength(13))
    expect(atOnce).toBeLessThan(100)
  })

  it('has the default queue when there is no task', async () => {
    expect(await listed()).toMatchObject({ queues: [{ queue_key: 'default', depth: 0, oldest: null }] })
  })

  it('refuses what it does not know', async () => {
    expect(await server.call('acme', 'GET', '/operator-queues?depth=1')).toMatchObject({ status: 400 })
    expect(await server.call(null, 'GET', '/operator-queues')).toMatchObject({ status: 401 })
  })
})

describe("a queue's settings", () => {
  const path = '/tenants/acme/operator-queues/sales'

  it('are the defaults until they are set, and after they are deleted', async () => {
    const unset = { status: 200, body: { ok: true, queue: { queue_key: 'sales', ...DEFAULTS }, is_set: false } }
    expect(await admin.call('GET', path)).toEqual(unset)
    expect(await admin.call('DELETE', path)).toMatchObject({ status: 404 })
    const answer = await put({ name: 'Sales', max_attempts: 5 })
    expect(answer).toMatchObject({
      status: 200,
      body: { queue: { queue_key: 'sales', name: 'Sales', max_attempts: 5 }, is_set: true },
    })
    expect(await admin.call('GET', path)).toEqual(answer)
    expect(await put({ retry_minutes: 10 })).toMatchObject({ body: { queue: { ...DEFAULTS, retry_minutes: 10 } } })
    expect(await admin.call('DELETE', path)).toMatchObject({ status: 200, body: { queue: { retry_minutes: 10 } } })
    expect(await admin.call('GET', path)).toEqual(unset)
  })

  it('are taken as they were read, with the key of the queue', async () => {
    const { body } = await put({ name: 'Sales', max_attempts: 5 })
    const { queue } = body as { queue: object }
    expect(await put({ ...queue, name: 'Nights' })).toMatchObject({
      status: 200,
      body: { queue: { ...queue, name: 'Nights' } },
    })
  })

  it('say by when tasks are to be done: only while the queue is open', async () => {
    const business_hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], start: '09:00', end: '17:00' }]
    await put({ sla_minutes: 60, timezone: 'Europe/Berlin', business_hours })
    // A Friday, half past four in Berlin: half an hour is left, the other half on Monday.
    const due_at = '2026-01-30T15:30:00.000Z'
    expect(await create({ queue_key: 'sales', due_at })).toMatchObject({ sla_due_at: '2026-02-02T08:30:00.000Z' })
  })

  it('may name an agent of the tenant', async () => {
    await makeAgents({ db: test.db, clock }).create(
      'acme' as TenantId,
      {
        agentKey: 'desk',
        name: 'D',
        description: '',
      },
      THE_SYSTEM,
    )
    expect(await put({ dispatch_agent_key: 'desk' })).toMatchObject({ status: 200 })
    expect(await put({ dispatch_agent_key: 'desk' }, 'globex')).toMatchObject({
      status: 400,
      body: { details: [{ path: '/body/dispatch_agent_key' }] },
    })
  })

  const FAULTY: [body: object, path: string][] = [
    [{ sla_minutes: 0 }, '/body/sla_minutes'],
    [{ timezone: 'Mars/North' }, '/body/timezone'],
    [{ business_hours: [{ days: [], start: '09:00', end: '17:00' }] }, '/body/business_hours/0/days'],
    [{ business_hours: [{ days: ['mon'], start: '09:00', end: '25:00' }] }, '/body/business_hours/0/end'],
    [{ business_hours: [{ days: ['mon'], start: '09:00', end: '09:00' }] }, '/body/business_hours/0'],
    [{ queue_key: 'x' }, '/body/queue_key'],
  ]

  it('are refused when they are at fault', async () => {
    for (const [body, at] of FAULTY) {
      expect(await put(body)).toMatchObject({ status: 400, body: { details: [{ path: at }] } })
    }
  })

  it('are of one tenant, and for administrators', async () => {
    await put({ name: 'Theirs' }, 'globex')
    expect(await admin.call('GET', path)).toMatchObject({ body: { queue: { name: null } } })
    expect(await admin.call('DELETE', path)).toMatchObject({ status: 404 })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? {} : undefined
      expect(await admin.call(method, path, { body, adminKey: null })).toMatchObject({ status: 401 })
      const unknown = '/tenants/nobody/operator-queues/sales'
      expect(await admin.call(method, unknown, { body })).toMatchObject({ status: 404 })
    }
  })
})

describe('GET admin/operator-queues/breaches', () => {
  it('lists the queues of all tenants in which tasks are late, those with the most of them first', async () => {
    const dueMs = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS).toISOString()
    await create({ queue_key: 'billing', sla_due_at: dueMs(-5) })
    await create({ sla_due_at: dueMs(-1) }, 'globex')
    const { id } = await create({ sla_due_at: dueMs(-2) }, 'globex')
    await create({ sla_due_at: dueMs(-9) }, 'globex')
    await create({ sla_due_at: dueMs(9) })
    await test.db
      .updateTable('callback_tasks')
      .set({ status: 'snoozed' })
      .where('id', '=', id as CallbackTaskId)
      .execute()
    const late = (query = '') => admin.call('GET', `/operator-queues/breaches${query}`)
    const [billing, theirs] = [
      { tenant_id: 'acme', queue_key: 'billing', breached: 1, oldest_due: dueMs(-5) },
      { tenant_id: 'globex', queue_key: 'default', breached: 2, oldest_due: dueMs(-9) },
    ]
    const all = { ok: true, count: 2, queues: [theirs, billing], next_cursor: null }
    expect(await late()).toEqual({ status: 200, body: all })
    expect(await late('?limit=1')).toMatchObject({ body: { count: 1, queues: [theirs] } })
    expect(await late('?limit=1&offset=1')).toMatchObject({ body: { count: 1, queues: [billing], next_cursor: null } })
    expect(await late('?limit=501')).toMatchObject({ status: 400, body: { details: [{ path: '/query/limit' }] } })
    expect(await admin.call('GET', '/operator-queues/breaches', { adminKey: null })).toMatchObject({ status: 401 })
  })

  it("takes for late what each tenant's own list does, by the hours of the queues and where their tenants are", async () => {
    // Open for an hour from now on, each by its own clock.
    const openIn = (timeZone: string) => {
      const shown = (options: Intl.DateTimeFormatOptions, minutes: number) =>
        new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(clock.now() + minutes * MINUTE_MS)
      const [start, end] = [0, 60].map((minutes) => shown({ timeStyle: 'short' }, minutes))
      return [{ days: [shown({ weekday: 'short' }, 0).toLowerCase()], start, end }]
    }
    await put({ business_hours: openIn('UTC') })
    await put({ business_hours: openIn('Asia/Tokyo'), timezone: 'Asia/Tokyo' }, 'acme', 'tokyo')
    await put({ business_hours: openIn('Asia/Kathmandu') }, 'globex')
    const compliance = JSON.stringify({ compliance: { timezone: 'Asia/Kathmandu' } })
    await sql`update tenants set document = document || ${compliance}::jsonb where tenant_id = 'globex'`.execute(
      test.db,
    )
    for (const minutes of [30, 60, 90]) {
      const sla_due_at = inMinutes(minutes)
      for (const queue_key of ['default', 'sales', 'tokyo']) await create({ queue_key, sla_due_at })
      await create({ queue_key: 'sales', sla_due_at }, 'globex')
    }
    const oldest_due = inMinutes(30)
    clock.jump(120 * MINUTE_MS)
    const { body } = await admin.call<{ queues: unknown }>('GET', '/operator-queues/breaches')
    expect(body.queues).toEqual([
      { tenant_id: 'acme', queue_key: 'default', breached: 3, oldest_due },
      { tenant_id: 'acme', queue_key: 'sales', breached: 1, oldest_due },
      { tenant_id: 'acme', queue_key: 'tokyo', breached: 1, oldest_due },
      { tenant_id: 'globex', queue_key: 'sales', breached: 1, oldest_due },
    ])
    expect((await listed()).queues.map(({ breached }) => breached)).toEqual([3, 1, 1])
  })

  it('lists as many of them as there are, page by page', async () => {
    const sla_due_at = new Date(clock.now() - MINUTE_MS).toISOString()
    const keys = Array.from({ length: 52 }, (_, n) => `queue-${String(n).padStart(2, '0')}`)
    for (const queue_key of keys) await create({ queue_key, sla_due_at })
    for (const _ of [1, 2]) await create({ queue_key: 'queue-51', sla_due_at }, 'globex')
    type List = { queues: { tenant_id: string; queue_key: string }[]; next_cursor: string | null }
    const page = async (query: string) => (await admin.call<List>('GET', `/operator-queues/breaches${query}`)).body
    const first = await page('')
    const second = await page(`?cursor=${first.next_cursor}`)
    expect([first.queues.length, second.queues.length, second.next_cursor]).toEqual([50, 3, null])
    const listed = [...first.queues, ...second.queues].map(({ tenant_id, queue_key }) => `${tenant_id} ${queue_key}`)
    expect(listed).toEqual(['globex queue-51', ...keys.map((key) => `acme ${key}`)])
    const { body } = await admin.call<List>('GET', '/callback-tasks?limit=1')
    expect(await admin.call('GET', `/operator-queues/breaches?cursor=${body.next_cursor}`)).toMatchObject({
      ...{ status: 400, body: { details: [{ path: '/query/cursor' }] } },
    })
  })
})

describe('GET admin/callback-tasks', () => {
  it('lists the tasks of all tenants, newest first, or of one', async () => {
    const first = await create({ stream_sid: 'MZ1' })
    await clock.advance(1)
    const second = await create({}, 'globex')
    const ids = async (query = '') => {
      const { body } = await admin.call<{ tasks: Task[] }>('GET', `/callback-tasks${query}`)
      return body.tasks.map(({ id }) => id)
    }
    expect(await ids()).toEqual([second.id, first.id])
    expect(await ids('?tenant_id=acme')).toEqual([first.id])
    expect(await ids('?stream_sid=MZ1&status=open')).toEqual([first.id])
    expect(await ids('?limit=1&offset=1')).toEqual([first.id])
    expect(await ids('?disposition=busy')).toEqual([])
    expect(await admin.call('GET', '/callback-tasks?status=new')).toMatchObject({ status: 400 })
    expect(await admin.call('GET', '/callback-tasks', { adminKey: null })).toMatchObject({ status: 401 })
  })
})

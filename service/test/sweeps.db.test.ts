import { beforeEach, describe, expect, it } from 'vitest'
import { newId, type TenantId } from '../src/kernel/ids.ts'
import type { SessionId } from '../src/records/call-values.ts'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'

type Item = { task_id: string; outcome: string } & Record<string, unknown>
type Swept = { result: { items: Item[]; failures: object[] } & Record<string, unknown> }

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** What has no endpoint is done as often at least, give or take a tenth. */
const RARE_MS = 5 * MINUTE_MS
const ALWAYS = { compliance: { calling_hours: { start: '00:00', end: '24:00' } } }

const test = useDatabase()
const app = useCallApp(test, { document: ALWAYS, settings: { SWEEP_INTERVAL_SECONDS: '0' } })
const dialled = () => app.rest.requests.filter(({ path }) => path.endsWith('/Calls.json'))

beforeEach(async () => {
  app.rest.reply = ({ path }) =>
    path.endsWith('/Calls.json')
      ? { status: 201, body: { sid: `CA-out-${dialled().length}`, status: 'queued' } }
      : { status: 200, body: {} }
  await speakBy({ outbound_default: true })
  await setQueue('sales', { auto_dispatch: true })
})

async function speakBy(facts: object): Promise<void> {
  const { phone_routes: routes } = await app.served.administer<{ phone_routes: { id: string }[] }>(
    'GET',
    '/tenants/acme/phone-routes',
  )
  const route = { phone_number: NUMBER, agent_key: 'desk', ...facts }
  await app.served.administer('PUT', `/tenants/acme/phone-routes/${routes[0]?.id}`, route)
}

const setQueue = (key: string, settings: object) =>
  app.served.administer('PUT', `/tenants/acme/operator-queues/${key}`, settings)
const sweep = async (query = '', path = 'dispatch', node = app.served) =>
  (await node.administer<Swept>('POST', `/operator-queues/${path}${query}`)).result

async function create(facts: object = {}): Promise<string> {
  const body = { customer_phone: CALLER, queue_key: 'sales', ...facts }
  const made = await app.served.call<{ task: { id: string } }>('acme', 'POST', '/callback-tasks', body)
  expect(made.status).toBe(200)
  return made.body.task.id
}

async function read(id: string): Promise<Record<string, unknown>> {
  return (await app.served.call<{ task: object }>('acme', 'GET', `/callback-tasks/${id}`)).body.task as Record<
    string,
    unknown
  >
}

describe('the sweep that dispatches', () => {
  it('has agents call for the open tasks of the queues that are set to, when they are due', async () => {
    const id = await create()
    await create({ queue_key: 'default' })
    await create({ due_at: new Date(app.clock.now() + 60 * MINUTE_MS).toISOString() })
    const claimed = await create()
    await app.served.call('acme', 'POST', `/callback-tasks/${claimed}/claim`, { operator: 'ann' })
    expect(await sweep()).toEqual({
      ...{ attempted_tenants: 1, evaluated_tenants: 1, failures: [], eligible_tasks: 1, dispatched_tasks: 1 },
      dry_run_tasks: 0,
      webhooks_enqueued: 0,
      items: [
        {
          ...{ tenant_id: 'acme', task_id: id, queue_key: 'sales', outcome: 'dispatched' },
          ...{ call_sid: 'CA-out-1', attempt: 1 },
        },
      ],
    })
    expect(dialled()).toMatchObject([{ form: { To: CALLER, From: NUMBER } }])
    expect(await read(id)).toMatchObject({ status: 'dispatching', last_dispatch_call_sid: 'CA-out-1' })
    expect(await sweep()).toMatchObject({ items: [] })
  })

  it('rings nobody who has a call: not who is talking to the agent, nor one number twice at once', async () => {
    await app.talk({ CallSid: 'CA-in' })
    const [first, second] = [await create({ call_sid: 'CA-in' }), await create({ call_sid: 'CA-in' })]
    expect(await sweep()).toMatchObject({ items: [], failures: [] })
    const over = { CallSid: 'CA-in', AccountSid: ACCOUNT.sid, CallStatus: 'completed' }
    await app.post('/api/v1/call-status', { form: over })
    expect((await sweep()).items).toMatchObject([{ outcome: 'dispatched' }])
    expect((await sweep()).items).toEqual([])
    expect(dialled()).toHaveLength(1)
    const form = { CallSid: 'CA-out-1', AccountSid: ACCOUNT.sid, CallStatus: 'busy' }
    await app.post('/api/v1/call-status', { form })
    expect((await sweep()).items).toMatchObject([{ outcome: 'dispatched' }])
    const attempts = [await read(first), await read(second)].map((task) => task['dispatch_attempt_count'])
    expect(attempts).toEqual([1, 1])
  })

  it('counts the webhooks that tell of it, that of a call which the carrier refuses too', async () => {
    await app.served.administer('PUT', '/tenants/acme/runtime-config', { webhook_url: 'https://hooks.example.com/' })
    await create()
    expect(await sweep()).toMatchObject({ dispatched_tasks: 1, webhooks_enqueued: 0 })
    await create({ customer_phone: '+12025550177' })
    expect(await sweep('?dry_run=true&emit_webhooks=true')).toMatchObject({ dry_run_tasks: 1, webhooks_enqueued: 0 })
    expect(await sweep('?emit_webhooks=true')).toMatchObject({ dispatched_tasks: 1, webhooks_enqueued: 1 })
    await create({ customer_phone: '+12025550188' })
    app.rest.reply = () => ({ status: 401, body: {} })
    expect(await sweep('?emit_webhooks=true')).toMatchObject({ failures: [{}], webhooks_enqueued: 1 })
  })

  it('only tells what it would do when it is asked to', async () => {
    const id = await create()
    await app.clock.advance(1)
    await app.served.call('acme', 'POST', '/dnc', { phone: '+12025550177' })
    const listed = await create({ customer_phone: '+12025550177' })
    const before = [await read(id), await read(listed)]
    const result = await sweep('?dry_run=true')
    expect(result).toMatchObject({ eligible_tasks: 2, dispatched_tasks: 0, dry_run_tasks: 1 })
    expect(result.items.map(({ task_id, outcome, code }) => [task_id, outcome, code])).toEqual([
      [id, 'dry_run', undefined],
      [listed, 'refused', 'dnc_listed'],
    ])
    await speakBy({ outbound_default: false })
    expect((await sweep('?dry_run=true')).items).toMatchObject([{ outcome: 'no_agent' }, { outcome: 'no_agent' }])
    expect([await read(id), await read(listed)]).toEqual(before)
    expect(dialled()).toEqual([])
  })

  it('would call a number for one of its tasks, as it does: the others wait for the end of that call', async () => {
    const first = await create()
    await app.clock.advance(1)
    await create()
    const other = await create({ customer_phone: '+12025550177' })
    await create({ customer_phone: '+12025550188', due_at: new Date(app.clock.now() + MINUTE_MS).toISOString() })
    const told = (items: Item[]) => items.map(({ task_id }) => task_id).sort()
    const would = await sweep('?dry_run=true')
    expect(would).toMatchObject({ eligible_tasks: 2, dry_run_tasks: 2 })
    expect(told(would.items)).toEqual([first, other].sort())
    expect(told((await sweep()).items)).toEqual(told(would.items))
  })

  it('tells what the gate refuses, and lets it hold up nothing', async () => {
    await app.served.call('acme', 'POST', '/dnc', { phone: '+12025550177' })
    const listed = await create({ priority: 'urgent', customer_phone: '+12025550177' })
    const other = await create()
    expect(await sweep('?limit=1')).toMatchObject({
      items: [{ task_id: listed, outcome: 'refused', code: 'dnc_listed' }],
      failures: [],
    })
    expect(await sweep('?limit=1')).toMatchObject({ items: [{ task_id: other, outcome: 'dispatched' }] })
    expect(await read(listed)).toMatchObject({ status: 'open', dispatch_attempt_count: 0 })
  })

  it('keeps the hours of the queue, and those in which people may be called', async () => {
    const id = await create()
    await setQueue('sales', { auto_dispatch: true, business_hours: [{ days: ['tue'], start: '01:00', end: '02:00' }] })
    expect(await sweep()).toMatchObject({ items: [] })
    app.clock.jump(60 * MINUTE_MS)
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'dispatched' }] })
    const telephony = { account_sid: 'AC00000000000000000000000000000001', auth_token: '***' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    await setQueue('sales', { auto_dispatch: true })
    // Three in the night in Greenwich, and ten in the evening where the number is.
    app.clock.jump(120 * MINUTE_MS)
    const later = await create({ customer_phone: '+12025550178' })
    const refused = { task_id: later, outcome: 'refused', code: 'outside_calling_hours' }
    expect((await sweep()).items).toContainEqual(expect.objectContaining(refused))
  })

  it('calls in the morning, in their turn, whom it could not call in the night', async () => {
    const telephony = { account_sid: 'AC00000000000000000000000000000001', auth_token: '***' }
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony })
    // Ten in the evening where the numbers are.
    app.clock.jump(180 * MINUTE_MS)
    const made: string[] = []
    for (const [index, priority] of ['low', 'urgent', 'normal'].entries()) {
      if (priority === 'normal') app.clock.jump(590 * MINUTE_MS)
      made.push(await create({ priority, customer_phone: `+1202555018${index}` }))
      if (priority !== 'normal')
        expect((await sweep()).items).toContainEqual(expect.objectContaining({ outcome: 'refused' }))
      app.clock.jump(5 * MINUTE_MS)
    }
    const called: unknown[] = []
    for (let n = 0; n < 3; n += 1) called.push((await sweep('?limit=1')).items[0]?.task_id)
    const [low, urgent, normal] = made
    expect(called).toEqual([urgent, normal, low])
  })

  it('speaks as the queue says, and tells when nobody could', async () => {
    await speakBy({ outbound_default: false })
    const id = await create()
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'no_agent', code: 'no_agent' }] })
    await app.served.administer('PUT', '/tenants/acme', {
      ...{ tenant_id: 'acme', ...ALWAYS },
      telephony: { account_sid: 'AC00000000000000000000000000000001', auth_token: '***', from_number: NUMBER },
    })
    await setQueue('sales', { auto_dispatch: true, dispatch_agent_key: 'desk' })
    expect(await sweep()).toMatchObject({ items: [{ task_id: id, outcome: 'dispatched' }] })
  })

  it('tells what the carrier refuses as a failure', async () => {
    const id = await create()
    app.rest.reply = () => ({ status: 400, body: { code: 21_211, message: 'Invalid To' } })
    expect(await sweep()).toMatchObject({
      ...{ items: [], failures: [{ tenant_id: 'acme', task_id: id }], eligible_tasks: 1, dispatched_tasks: 0 },
    })
  })

  it('calls once for each task, whichever nodes sweep at once', async () => {
    for (let count = 0; count < 6; count += 1) await create({ customer_phone: `+1202555010${count}` })
    const given = { model: app.model, clock: app.clock, besides: app.served }
    const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl }
    const other = await ServedApp.start(test, { ...given, settings, database: await test.anotherNode() })
    const results = await Promise.all([sweep(), sweep('', 'dispatch', other), sweep(), sweep('', 'dispatch', other)])
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    const tasks = results.flatMap(({ items }) => items.map(({ task_id }) => task_id))
    expect([tasks.length, new Set(tasks).size, dialled().length]).toEqual([6, 6, 6])
    let isClosed = false
    void other.app.close().then(() => {
      isClosed = true
    })
    await app.pass(() => isClosed, 'the other node to stop')
  })

  it('is for administrators, for one tenant if they want, and asked for as described', async () => {
    await create()
    const post = (query: string, headers = {}) =>
      fetch(`${app.served.address}/api/v1/admin/operator-queues/dispatch${query}`, { method: 'POST', headers })
    expect((await post('')).status).toBe(401)
    const token = app.served.tokenOf('acme')
    for (const [query, status] of [
      ['?dry_run=maybe', '400'],
      ['?limit=10001', '400'],
      ['?auth_token=pk_nobody_has_this_token', '401'],
    ] as const)
      await expect(sweep(query)).rejects.toThrow(status)
    expect(await sweep(`?limit=0&auth_token=${token}`)).toMatchObject({ items: [], attempted_tenants: 0 })
    expect(await sweep(`?auth_token=${token}`)).toMatchObject({ dispatched_tasks: 1 })
    for (const secret of [token, 'pk_nobody_has_this_token'])
      expect(JSON.stringify(app.served.logLines())).not.toContain(secret)
  })
})

describe('the schedule of the sweeps', () => {
  it('does by itself what the endpoints do', async () => {
    const id = await create()
    const settings = { TELEPHONY_API_BASE_URL: app.rest.baseUrl, SWEEP_INTERVAL_SECONDS: '30' }
    const given = { model: app.model, clock: app.clock, besides: app.served, settings }
    const node = await ServedApp.start(test, { ...given, database: await test.anotherNode() })
    const isBusy = () => app.rest.isAsked
    const pass = (condition: () => Promise<boolean>, what: string) =>
      passing(app.clock, condition, { what, stepMs: 2_000, isBusy })
    await pass(async () => (await read(id))['status'] === 'dispatching', 'the task to be dispatched')
    const late = await create({ queue_key: 'default', sla_due_at: new Date(app.clock.now() + 1).toISOString() })
    await pass(async () => (await read(late))['last_sla_alerted_at'] !== null, 'the alert')
    let isClosed = false
    void node.app.close().then(() => {
      isClosed = true
    })
    await app.pass(() => isClosed, 'the node to stop')
  })

  it('does what has no endpoint where it is turned off, and nothing else', async () => {
    const late = await create({ sla_due_at: new Date(app.clock.now() + 1).toISOString() })
    const longAgo = new Date(app.clock.now() - 91 * DAY_MS)
    const noted = { tenant_id: 'acme' as TenantId, session_id: newId<SessionId>(longAgo.getTime()), erased_at: longAgo }
    await test.db.insertInto('erased_recordings').values(noted).execute()
    const notes = () => test.db.selectFrom('erased_recordings').selectAll().execute()
    const isBusy = () => app.rest.isAsked
    const what = { what: 'the note of the erased session to go', stepMs: 10_000, isBusy }
    const untilMs = app.clock.now() + 1.1 * RARE_MS
    await passing(app.clock, async () => (await notes()).length === 0 && app.clock.now() >= untilMs, what)
    expect(await read(late)).toMatchObject({ status: 'open', last_sla_alerted_at: null })
  })
})

import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someUuid } from '../../test/harness/matchers.ts'
import { until } from '../../test/harness/wait.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { NODE, someCall, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions } from '../records/sessions.ts'
import { release } from './callback-task-moves.ts'
import type { CallbackTaskId } from './callback-task-store.ts'
import { changeTask } from './change-callback-task.ts'
import type { DncEntryId } from './do-not-call-store.ts'
import { useTaskDesk } from './task-desk.fixture.ts'

type Task = { id: string; status: string } & Record<string, unknown>
type Answer = { task: Task; code: string; error: string }

const ANN = '+12025550101'
const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const MINUTE_MS = 60_000
const CLAIM_ROUNDS = process.env['PARLEY_TEST_FULL'] ? 200 : 10

const test = useDatabase()
const clock = new TestClock()
const server = useTaskDesk(test, clock)

async function create(facts: Record<string, unknown> = {}, tenant = 'acme'): Promise<Task> {
  const body = { customer_phone: ANN, ...facts }
  const answer = await server.call<Answer>(tenant, 'POST', '/callback-tasks', body)
  expect(answer.status).toBe(200)
  return answer.body.task
}

function act(id: string, action: string, body?: unknown, tenant: string | null = 'acme') {
  return server.call<Answer>(tenant, 'POST', `/callback-tasks/${id}/${action}`, body)
}

async function listed(query = '', tenant = 'acme'): Promise<unknown[]> {
  const { status, body } = await server.call<{ tasks: Task[] }>(tenant, 'GET', `/callback-tasks${query}`)
  expect(status).toBe(200)
  return body.tasks.map(({ id }) => id)
}

async function told(): Promise<string[]> {
  return (await storedEvents(test.db)).map(({ event }) => event).filter((event) => event !== 'callback.task.created')
}

function inMinutes(minutes: number): string {
  return new Date(clock.now() + minutes * MINUTE_MS).toISOString()
}

async function waitsForLock(): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select exists (select from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock') as "is"`.execute(test.db)
  return rows[0]?.is === true
}

/** What each action needs to be said. */
const BODIES: Record<string, Record<string, unknown>> = {
  acknowledge: { operator: 'ann' },
  claim: { operator: 'ann' },
  assign: { operator: 'ben', by: 'ann' },
  release: {},
  snooze: { until: '2099-01-01T00:00:00.000Z', reason: 'later', operator: 'ann' },
  wake: {},
  complete: { disposition: 'resolved', notes: 'Done.', operator: 'ann' },
  cancel: { reason: 'a mistake', operator: 'ann' },
  reopen: { reason: 'again', operator: 'ann' },
}

/** How a new task comes to have a status. */
const WAYS: Record<string, string[]> = {
  open: [],
  claimed: ['claim'],
  snoozed: ['snooze'],
  completed: ['complete'],
  cancelled: ['cancel'],
}

async function taskThatIs(status: string): Promise<Task> {
  const task = await create()
  for (const action of WAYS[status] ?? [])
    expect(await act(task.id, action, BODIES[action])).toMatchObject({ status: 200 })
  return task
}

describe('POST callback-tasks', () => {
  it('makes an open task with the defaults, and tells the tenant', async () => {
    const task = await create()
    expect(task).toMatchObject({
      ...{ id: someUuid, tenant_id: 'acme', customer_phone: ANN, status: 'open', disposition: null },
      ...{ priority: 'normal', queue_key: 'default', created_by: 'api', metadata: {}, due_at: null },
      ...{ created_at: inMinutes(0), sla_due_at: inMinutes(30), dispatch_attempt_count: 0, call_sid: null },
    })
    expect(await storedEvents(test.db)).toMatchObject([{ event: 'callback.task.created', body: { payload: { task } } }])
  })

  it('takes all that can be said of a task', async () => {
    const facts = {
      ...{ queue_key: 'sales', agent_name: 'Robin', summary: 'A boat.', notes: 'Blue.', priority: 'urgent' },
      ...{
        due_at: inMinutes(60),
        sla_due_at: inMinutes(61),
        stream_sid: 'MZ1',
        call_sid: 'CA1',
        metadata: { order: 7 },
      },
    }
    expect(await create(facts)).toMatchObject(facts)
  })

  it('knows the call that has its stream, while that goes on, and none of another tenant', async () => {
    const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
    const known = async (stream_sid: string) => (await create({ stream_sid }))['call_sid']
    for (const [tenant, callSid] of [
      ['acme', 'CA1'],
      ['globex', 'CA2'],
    ] as const) {
      await sessions.open(tenantTold(tenant), someCall(callSid))
      const stream = { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null }
      await sessions.started(tenantTold(tenant), stream)
    }
    expect([await known('MZCA1'), await known('MZCA2'), await known('MZ9')]).toEqual(['CA1', null, null])
    const [event] = (await storedEvents(test.db)).filter(({ event }) => event === 'callback.task.created')
    expect(event).toMatchObject({ call_sid: 'CA1' })
    await test.db
      .updateTable('voice_sessions')
      .set({ ended_at: new Date(clock.now()) })
      .execute()
    expect(await known('MZCA1')).toBeNull()
  })

  it('takes the first and the last instant that it may be told', async () => {
    for (const due_at of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const task = await create({ due_at })
      expect(task).toMatchObject({ due_at, sla_due_at: expect.stringMatching(/^(0001|9999)-/) })
      expect((await server.call<Answer>('acme', 'GET', `/callback-tasks/${task.id}`)).body.task).toEqual(task)
    }
  })

  const FAULTY: [body: object, path: string][] = [
    [{}, '/body/customer_phone'],
    [{ customer_phone: '12025550101' }, '/body/customer_phone'],
    [{ customer_phone: ANN, queue_key: 'Über' }, '/body/queue_key'],
    [{ customer_phone: ANN, priority: 'soon' }, '/body/priority'],
    [{ customer_phone: ANN, due_at: 'tomorrow' }, '/body/due_at'],
    [{ customer_phone: ANN, metadata: [] }, '/body/metadata'],
    [{ customer_phone: ANN, status: 'claimed' }, '/body/status'],
  ]

  it('refuses what is at fault, and names it', async () => {
    for (const [body, path] of FAULTY) {
      expect(await server.call('acme', 'POST', '/callback-tasks', body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', details: [{ path }] },
      })
    }
  })
})

describe('GET callback-tasks', () => {
  it("lists the tenant's own tasks, newest first, page by page", async () => {
    await create({}, 'globex')
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await create()).id)
      await clock.advance(1)
    }
    expect(await listed()).toEqual(ids)
    const { body } = await server.call<{ next_cursor: string }>('acme', 'GET', '/callback-tasks?limit=2')
    expect(body).toMatchObject({ ok: true, count: 2, tasks: [{ id: ids[0] }, { id: ids[1] }] })
    expect(await listed(`?limit=2&cursor=${body.next_cursor}`)).toEqual([ids[2]])
    expect(await listed('?offset=1&limit=1')).toEqual([ids[1]])
  })

  it('goes on behind whatever instant was promised', async () => {
    const promised = ['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']
    const ids: string[] = []
    for (const sla_due_at of promised) {
      const [one, other] = [await create({ sla_due_at }), await create({ sla_due_at })]
      ids.push(...[one.id, other.id].toSorted())
    }
    type List = { tasks: Task[]; next_cursor: string | null }
    const found: string[] = []
    let query = ''
    for (const _ of ids) {
      const { body } = await server.call<List>('acme', 'GET', `/callback-tasks?order=due&limit=1${query}`)
      found.push(...body.tasks.map(({ id }) => id))
      query = `&cursor=${body.next_cursor}`
    }
    expect(found).toEqual(ids)
  })

  it('lists what is not done by the time that was promised, page by page', async () => {
    await create({ sla_due_at: inMinutes(1) }, 'globex')
    const late = await create({ sla_due_at: inMinutes(90) })
    const [soon, done] = [await create({ sla_due_at: inMinutes(20) }), await create({ sla_due_at: inMinutes(10) })]
    const taken = await create({ sla_due_at: inMinutes(40), queue_key: 'sales' })
    await act(done.id, 'complete', { disposition: 'busy' })
    await act(taken.id, 'claim', { operator: 'ann' })
    expect(await listed('?order=due')).toEqual([soon.id, taken.id, late.id])
    const { body } = await server.call<{ next_cursor: string }>('acme', 'GET', '/callback-tasks?order=due&limit=1')
    expect(await listed(`?order=due&limit=1&cursor=${body.next_cursor}`)).toEqual([taken.id])
    expect(await listed('?order=due&offset=1&limit=1')).toEqual([taken.id])
    expect(await listed('?order=due&status=claimed&queue_key=sales')).toEqual([taken.id])
    expect(await listed('?order=due&status=completed')).toEqual([])
    expect(await listed('?order=newest&limit=1')).toEqual(await listed('?limit=1'))
  })

  it('finds tasks by what they are', async () => {
    const [first, second] = [await create({ queue_key: 'sales', call_sid: 'CA1' }), await create({ priority: 'high' })]
    await act(first.id, 'claim', { operator: 'ann' })
    await act(second.id, 'complete', { disposition: 'busy' })
    for (const query of ['status=claimed', 'queue_key=sales', 'assigned_to=ann', 'call_sid=CA1', 'priority=normal']) {
      expect(await listed(`?${query}`)).toEqual([first.id])
    }
    expect(await listed('?disposition=busy')).toEqual([second.id])
    expect(await listed(`?customer_phone=${ANN}&status=completed`)).toEqual([second.id])
    expect(await listed('?queue_key=nothing')).toEqual([])
  })

  const FAULTY: [query: string, path: string][] = [
    ['?status=done', '/query/status'],
    ['?disposition=maybe', '/query/disposition'],
    ['?order=oldest', '/query/order'],
    ['?tenant_id=globex', '/query/tenant_id'],
    ['?limit=501', '/query/limit'],
  ]

  it('refuses what it cannot be asked', async () => {
    for (const [query, path] of FAULTY) {
      expect(await server.call('acme', 'GET', `/callback-tasks${query}`)).toMatchObject({
        status: 400,
        body: { details: [{ path }] },
      })
    }
  })
})

describe('PATCH callback-tasks/:id', () => {
  function edit(id: string, body: unknown, tenant = 'acme') {
    return server.call<Answer>(tenant, 'PATCH', `/callback-tasks/${id}`, body)
  }

  it('changes what is given and leaves the rest', async () => {
    const { id } = await create({ summary: 'A boat.', notes: 'Blue.' })
    const { status, body } = await edit(id, { notes: null, priority: 'low', metadata: { order: 7 } })
    expect(status).toBe(200)
    expect(body.task).toMatchObject({ summary: 'A boat.', notes: null, priority: 'low', metadata: { order: 7 } })
  })

  it('works out anew by when it is to be done, unless that is said', async () => {
    const { id } = await create()
    expect((await edit(id, { due_at: inMinutes(60) })).body.task).toMatchObject({ sla_due_at: inMinutes(90) })
    expect((await edit(id, { due_at: null, sla_due_at: inMinutes(5) })).body.task).toMatchObject({
      due_at: null,
      sla_due_at: inMinutes(5),
    })
    expect((await edit(id, { notes: 'x' })).body.task).toMatchObject({ sla_due_at: inMinutes(5) })
    expect((await edit(id, { sla_due_at: null })).body.task).toMatchObject({ sla_due_at: inMinutes(30) })
  })

  it('keeps by when it is to be done with a due time and a queue that are as they were', async () => {
    const promise = { sla_due_at: inMinutes(5) }
    const { id } = await create({ ...promise, queue_key: 'sales' })
    expect((await edit(id, { due_at: null, queue_key: 'sales', notes: 'x' })).body.task).toMatchObject(promise)
    await edit(id, { due_at: inMinutes(60), ...promise })
    expect((await edit(id, { due_at: inMinutes(60) })).body.task).toMatchObject(promise)
  })

  it('counts from when a task was opened again, not from when it was made', async () => {
    const { id } = await create()
    await act(id, 'complete', BODIES['complete'])
    await clock.advance(4 * 86_400_000)
    await act(id, 'reopen')
    expect((await edit(id, { queue_key: 'sales' })).body.task).toMatchObject({ sla_due_at: inMinutes(30) })
    expect((await edit(id, { sla_due_at: null })).body.task).toMatchObject({ sla_due_at: inMinutes(30) })
  })

  const path = (id: string) => `/callback-tasks/${id}`

  /** Changes a task over the tag that was read. */
  const editOver = (tag: string, id: string, body: object) =>
    server.send('acme', 'PATCH', path(id), { body, headers: { 'if-match': tag } })

  /** The tag that the task has now, as the header and the body both say. */
  async function tagOf(id: string): Promise<string> {
    const { headers, text } = await server.send('acme', 'GET', path(id))
    expect(headers['etag']).toBe(JSON.parse(text).etag)
    return String(headers['etag'])
  }

  it('writes over what If-Match names, and not over what somebody else has written meanwhile', async () => {
    const { id } = await create({ notes: 'Blue.' })
    const read = await tagOf(id)
    await edit(id, { notes: 'Green.' })
    const stale = await editOver(read, id, { notes: 'Red.', priority: 'low' })
    expect(stale).toMatchObject({ status: 412 })
    expect(JSON.parse(stale.text)).toMatchObject({
      code: 'precondition_failed',
      error: expect.stringContaining('Read it again'),
    })
    expect((await server.call<Answer>('acme', 'GET', path(id))).body.task).toMatchObject({
      ...{ notes: 'Green.', priority: 'normal' },
    })
    const written = await editOver(await tagOf(id), id, { notes: 'Red.' })
    expect(written).toMatchObject({ status: 200, headers: { etag: await tagOf(id) } })
    expect(await editOver(String(written.headers['etag']), id, { priority: 'low' })).toMatchObject({ status: 200 })
    expect(await editOver('*', id, { priority: 'high' })).toMatchObject({ status: 200 })
  })

  it('lets one of several writers have a tag', async () => {
    const { id } = await create()
    const read = await tagOf(id)
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((notes) => editOver(read, id, { notes })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
  })

  it('keeps the tag while nothing changes that can be edited, and gives another one when it is done with notes', async () => {
    const { id } = await create()
    const read = await tagOf(id)
    await act(id, 'claim', BODIES['claim'])
    expect(await tagOf(id)).toBe(read)
    await act(id, 'complete', BODIES['complete'])
    expect(await tagOf(id)).not.toBe(read)
  })

  const FAULTY: [body: object, path: string][] = [
    [{ status: 'completed' }, '/body/status'],
    [{ customer_phone: ANN }, '/body/customer_phone'],
    [{ queue_key: null }, '/body/queue_key'],
  ]

  it('refuses what is at fault', async () => {
    const { id } = await create()
    for (const [body, path] of FAULTY) {
      expect(await edit(id, body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
    }
  })
})

describe('the transitions of a callback task', () => {
  const MOVES: [action: string, from: string[], to: string, event: string | null][] = [
    ['claim', ['open'], 'claimed', 'claimed'],
    ['assign', ['open', 'claimed'], 'claimed', 'claimed'],
    ['release', ['claimed'], 'open', null],
    ['snooze', ['open', 'claimed'], 'snoozed', 'snoozed'],
    ['wake', ['snoozed'], 'open', 'woken'],
    ['complete', ['open', 'claimed'], 'completed', 'completed'],
    ['cancel', ['open', 'claimed', 'snoozed'], 'cancelled', 'cancelled'],
    ['reopen', ['completed', 'cancelled'], 'open', 'reopened'],
  ]

  it.each(MOVES)('%s leads from %j to %s, and from nowhere else', async (action, from, to, event) => {
    for (const status of Object.keys(WAYS)) {
      const { id } = await taskThatIs(status)
      await test.db.deleteFrom('webhook_outbox').execute()
      const answer = await act(id, action, BODIES[action])
      if (from.includes(status)) {
        expect(answer).toMatchObject({ status: 200, body: { ok: true, task: { id, status: to } } })
        expect(await told()).toEqual(event === null ? [] : [`callback.task.${event}`])
      } else {
        expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
        expect((await server.call<Answer>('acme', 'GET', `/callback-tasks/${id}`)).body.task.status).toBe(status)
        expect(await told()).toEqual([])
      }
    }
  })

  it('set what belongs to them', async () => {
    const { id } = await create()
    const after = async (action: string) => (await act(id, action, BODIES[action])).body.task
    const now = inMinutes(0)
    expect(await after('claim')).toMatchObject({ assigned_to: 'ann', claimed_at: now })
    expect(await after('assign')).toMatchObject({ assigned_to: 'ben', claimed_at: now })
    expect(await after('release')).toMatchObject({ assigned_to: null, claimed_at: null })
    expect(await after('snooze')).toMatchObject({ snoozed_until: '2099-01-01T00:00:00.000Z', snooze_reason: 'later' })
    expect(await after('wake')).toMatchObject({ snoozed_until: null, snooze_reason: null })
    expect(await after('complete')).toMatchObject({ disposition: 'resolved', notes: 'Done.', completed_at: now })
    expect(await after('reopen')).toMatchObject({ disposition: null, completed_at: null, assigned_to: null })
  })

  it.each([
    ['those that are given', { notes: 'Blue.' }, 'Blue.', 'Blue.'],
    ['none when they are emptied', { notes: ' ' }, null, null],
    ['those that it has when nothing is said of them', {}, 'Red.', null],
    ['those that it has when none are given', { notes: null }, 'Red.', null],
  ])('have it done with %s', async (_what, given, notes, note) => {
    const { id } = await create({ notes: 'Red.' })
    // What is done in the same millisecond has no order in the history.
    await clock.advance(1)
    const { task } = (await act(id, 'complete', { disposition: 'resolved', ...given })).body
    expect(task).toMatchObject({ status: 'completed', notes })
    const { body } = await server.call<{ changes: { note: string | null }[] }>(
      'acme',
      'GET',
      `/callback-tasks/${id}/history`,
    )
    expect(body.changes[0]?.note).toBe(note)
  })

  it('open a task again with a promise that begins then', async () => {
    const { id } = await create({ due_at: inMinutes(-60), sla_due_at: inMinutes(-50) })
    await act(id, 'complete', BODIES['complete'])
    await clock.advance(4 * 86_400_000)
    const { task } = (await act(id, 'reopen')).body
    expect(task).toMatchObject({ status: 'open', due_at: null, sla_due_at: inMinutes(30) })
  })

  it('list a number that is not to be called with the task that says so', async () => {
    const entries = () => test.db.selectFrom('do_not_call').select(['tenant_id', 'phone', 'source']).execute()
    await act((await create()).id, 'complete', BODIES['complete'])
    expect(await entries()).toEqual([])
    const { id } = await create()
    await act(id, 'complete', { disposition: 'do_not_call', operator: 'ann' })
    expect(await entries()).toEqual([{ tenant_id: 'acme', phone: ANN, source: 'ann' }])
    expect(await told()).toContain('dnc.added')
    expect(await act(id, 'complete', { disposition: 'do_not_call' })).toMatchObject({ status: 409 })
  })

  it('cancel what else waits for a number that is not to be called, and leave what somebody is at', async () => {
    const waiting = [await taskThatIs('open'), await taskThatIs('snoozed')]
    const [mine, others] = [await taskThatIs('claimed'), await create({}, 'globex')]
    const { id } = await create()
    await act(id, 'complete', { disposition: 'do_not_call', operator: 'ann' })
    for (const task of waiting) {
      const { body } = await server.call<Answer>('acme', 'GET', `/callback-tasks/${task.id}`)
      expect(body.task).toMatchObject({ status: 'cancelled', disposition: 'do_not_call', snoozed_until: null })
      const path = `/callback-tasks/${task.id}/history`
      const history = await server.call<{ changes: { action: string }[] }>('acme', 'GET', path)
      const [cancel] = history.body.changes.filter(({ action }) => action === 'cancel')
      expect(cancel).toMatchObject({ operator: 'ann', note: 'The number is not to be called any more.' })
    }
    expect((await told()).filter((event) => event === 'callback.task.cancelled')).toHaveLength(2)
    expect(await listed('?status=claimed')).toEqual([mine.id])
    expect(await listed('', 'globex')).toEqual([others.id])
    expect(await listed('?status=open')).toEqual([])
  })

  it.each([
    ['released', 'release'],
    ['put off', 'snooze'],
  ])('cancel a task that is %s once its number is not to be called any more', async (_what, action) => {
    const mine = await taskThatIs('claimed')
    const { id } = await create()
    await act(id, 'complete', { disposition: 'do_not_call', operator: 'ben' })
    await act(mine.id, 'assign', { operator: 'cy' })
    await clock.advance(1_000)
    expect((await act(mine.id, action, BODIES[action])).body.task).toMatchObject({
      ...{ status: 'cancelled', disposition: 'do_not_call', snoozed_until: null },
    })
    expect((await told()).filter((event) => event === 'callback.task.cancelled')).toHaveLength(1)
    const path = `/callback-tasks/${mine.id}/history`
    const history = await server.call<{ changes: { action: string }[] }>('acme', 'GET', path)
    expect(history.body.changes.slice(0, 2).map((change) => change.action)).toEqual(['cancel', action])
    expect((await act(mine.id, 'reopen')).body.task.status).toBe('open')
    await act(mine.id, 'claim', BODIES['claim'])
    expect((await act(mine.id, 'release')).body.task.status).toBe('open')
  })

  it('cancel a task that is given back in the instant in which its number is listed', async () => {
    const [mine, { id }] = [await taskThatIs('claimed'), await create()]
    const node = await test.anotherNode()
    let listing: Promise<unknown> | undefined
    await node.db.transaction().execute(async (tx) => {
      const given = { id: mine.id as CallbackTaskId, move: release({ operator: 'ann', note: null }) }
      await changeTask(tx, tenantTold('acme'), given, new Date(clock.now()))
      listing = act(id, 'complete', { disposition: 'do_not_call', operator: 'ben' })
      // On the embedded database it waits for the only connection.
      const isWaiting = async () => test.kind === 'embedded' || (await waitsForLock())
      await until(isWaiting, { what: 'the number to be listed, and the task to be waited for' })
    })
    await listing
    expect(await listed('?status=cancelled')).toEqual([mine.id])
    expect((await told()).filter((event) => event === 'callback.task.cancelled')).toHaveLength(1)
  })

  it('cancel a task that is given back whose number was listed by a clock that is ahead', async () => {
    const [mine, { id }] = [await taskThatIs('claimed'), await create()]
    await clock.advance(MINUTE_MS)
    const entry = { tenant_id: 'acme' as TenantId, id: newId<DncEntryId>(clock.now()), phone: ANN as PhoneNumber }
    const ahead = new Date(clock.now() + MINUTE_MS)
    const values = { ...entry, reason: null, source: null, created_at: ahead }
    await test.db.insertInto('do_not_call').values(values).execute()
    await act(id, 'complete', { disposition: 'do_not_call', operator: 'ben' })
    expect((await act(mine.id, 'release')).body.task).toMatchObject({ status: 'cancelled' })
  })

  it('open a task again whose number may be called again', async () => {
    const mine = await taskThatIs('claimed')
    const { id } = await create()
    await act(id, 'complete', { disposition: 'do_not_call', operator: 'ben' })
    const listed = test.db.deleteFrom('do_not_call').returningAll()
    const [entry] = await listed.execute()
    expect((await act(mine.id, 'release')).body.task.status).toBe('open')
    // As an import does, which cancels nothing.
    await clock.advance(MINUTE_MS)
    const anew = { id: newId<DncEntryId>(clock.now()), created_at: new Date(clock.now()) }
    if (entry)
      await test.db
        .insertInto('do_not_call')
        .values({ ...entry, ...anew })
        .execute()
    for (const action of ['acknowledge', 'assign', 'release'])
      expect(['open', 'claimed']).toContain((await act(mine.id, action, BODIES[action])).body.task.status)
  })

  it('acknowledge a task that is not done, whose status stays', async () => {
    for (const status of ['open', 'claimed', 'snoozed']) {
      const { id } = await taskThatIs(status)
      expect((await act(id, 'acknowledge', { operator: 'cy' })).body.task).toMatchObject({
        status,
        acknowledged_by: 'cy',
        acknowledged_at: inMinutes(0),
      })
    }
  })

  it('acknowledge none that is done', async () => {
    for (const status of ['completed', 'cancelled']) {
      const { id } = await taskThatIs(status)
      expect(await act(id, 'acknowledge', { operator: 'cy' })).toMatchObject({ status: 409 })
    }
  })

  it('let one of twenty claimers win', { timeout: 120_000 }, async () => {
    for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
      await test.db.deleteFrom('webhook_outbox').execute()
      const { id } = await create()
      const claims = Array.from({ length: 20 }, (_, index) => act(id, 'claim', { operator: `operator ${index}` }))
      const answers = await Promise.all(claims)
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
      const winner = answers.find(({ status }) => status === 200)
      const { body } = await server.call<Answer>('acme', 'GET', `/callback-tasks/${id}`)
      expect(body.task).toEqual(winner?.body.task)
      expect(await told()).toEqual(['callback.task.claimed'])
    }
  })

  it('need no body where nothing has to be said', async () => {
    const { id } = await taskThatIs('claimed')
    expect(await act(id, 'release')).toMatchObject({ status: 200 })
    expect(await act(id, 'claim')).toMatchObject({ status: 400, body: { details: [{ path: '/body/operator' }] } })
  })

  const FAULTY: [action: string, body: object, path: string][] = [
    ['claim', {}, '/body/operator'],
    ['claim', { operator: '' }, '/body/operator'],
    ['claim', { operator: '   ' }, '/body/operator'],
    ['assign', { by: 'ann' }, '/body/operator'],
    ['snooze', { reason: 'x' }, '/body/until'],
    ['snooze', { until: '2001-01-01T00:00:00.000Z' }, '/body/until'],
    ['complete', {}, '/body/disposition'],
    ['complete', { disposition: 'fine' }, '/body/disposition'],
    ['cancel', { note: 'x' }, '/body/note'],
    ['dispatch', { until: 'x' }, '/body/until'],
  ]

  it('refuse what is at fault, and name it', async () => {
    const { id } = await create()
    for (const [action, body, path] of FAULTY) {
      expect(await act(id, action, body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
    }
  })
})

describe('GET callback-tasks/:id/history', () => {
  it('says who did what, newest first, page by page', async () => {
    const { id } = await create()
    for (const action of ['claim', 'assign', 'complete', 'reopen']) {
      await clock.advance(1)
      await act(id, action, BODIES[action])
    }
    await clock.advance(1)
    await server.call('acme', 'PATCH', `/callback-tasks/${id}`, { notes: 'x' })
    const path = `/callback-tasks/${id}/history`
    const { body } = await server.call<{ next_cursor: string }>('acme', 'GET', `${path}?limit=4`)
    expect(body).toMatchObject({
      count: 4,
      changes: [
        { action: 'edit', status: 'open', operator: null, details: { fields: ['notes'] } },
        { action: 'reopen', status: 'open', operator: 'ann', note: 'again' },
        { action: 'complete', status: 'completed', operator: 'ann', details: { disposition: 'resolved' } },
        { action: 'assign', status: 'claimed', operator: 'ann', details: { assigned_to: 'ben' } },
      ],
    })
    expect((await server.call('acme', 'GET', `${path}?cursor=${body.next_cursor}`)).body).toMatchObject({
      changes: [
        { action: 'claim', operator: 'ann' },
        { action: 'create', operator: 'api' },
      ],
      next_cursor: null,
    })
  })
})

const ROUTES: [method: 'GET' | 'POST' | 'PATCH', path: string, body: unknown][] = [
  ['GET', '', undefined],
  ['PATCH', '', { notes: 'x' }],
  ['GET', '/history', undefined],
  ...Object.entries(BODIES).map(([action, body]): [method: 'POST', path: string, body: unknown] => [
    'POST',
    `/${action}`,
    body,
  ]),
]

describe('the callback task routes', () => {
  it("find no other tenant's task, and none that is not there", async () => {
    const { id } = await create({}, 'globex')
    for (const [method, path, body] of ROUTES) {
      for (const unknown of [id, UNKNOWN_ID, 'mine']) {
        const answer = await server.call('acme', method, `/callback-tasks/${unknown}${path}`, body)
        expect({ path, ...answer }).toMatchObject({ path, status: 404, body: { code: 'not_found' } })
      }
    }
    const { body } = await server.call<Answer>('globex', 'GET', `/callback-tasks/${id}`)
    expect(body.task).toMatchObject({ status: 'open', notes: null })
  })

  it('let nobody without a credential in', async () => {
    const { id } = await create()
    const ofOne = [...ROUTES, ['POST', '/dispatch', {}] as const].map(
      ([method, path, body]) => [method, `/${id}${path}`, body] as const,
    )
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { customer_phone: ANN }],
      ...ofOne,
    ] as const) {
      const answer = await server.call(null, method, `/callback-tasks${path}`, body)
      expect({ path, ...answer }).toMatchObject({ path, status: 401, body: { code: 'unauthorized' } })
    }
  })
})

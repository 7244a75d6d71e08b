import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { newId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { beginDispatch, type TaskSettings } from './callback-task-move-store.ts'
import { makeCallbackTasks, type NewCallback, scheduleCallback } from './callback-tasks.ts'
import { editTask } from './edit-callback-task.ts'

const test = useDatabase()
const clock = new TestClock()
const acme = tenantTold('acme')
const SESSION = '0190a000-0000-7000-8000-000000000001'
const CALLBACK: NewCallback = {
  customerPhone: '+12025550101' as PhoneNumber,
  call: { callSid: 'CA1', sessionId: SESSION, streamSid: 'MZ1', agentName: 'Robin' },
  priority: 'high',
  summary: 'Wants a second\0 appointment.',
  notes: null,
  dueAt: null,
  createdBy: 'Robin',
  metadata: { order: 7 },
}

beforeEach(() => makeTenant(test.db, 'acme'))

function schedule(callback: NewCallback = CALLBACK) {
  return makeCallbackTasks({ db: test.db, clock }).schedule(acme, callback)
}

describe('scheduling a callback', () => {
  it('stores an open task of the default queue, due within half an hour', async () => {
    const now = new Date(clock.now())
    const task = await schedule()
    expect(task).toMatchObject({
      ...{ tenant_id: 'acme', id: someUuid, status: 'open', priority: 'high', queue_key: 'default', disposition: null },
      ...{
        stream_sid: 'MZ1',
        call_sid: 'CA1',
        agent_name: 'Robin',
        customer_phone: '+12025550101',
        created_by: 'Robin',
      },
      ...{ summary: 'Wants a second appointment.', metadata: { order: 7 }, due_at: null, dispatch_attempt_count: 0 },
      ...{ created_at: now, updated_at: now, sla_due_at: new Date(now.getTime() + 1_800_000) },
    })
    expect(await test.db.selectFrom('callback_tasks').selectAll().execute()).toEqual([task])
  })

  it('stores nothing and tells nobody once it was given up', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    const scheduling = makeCallbackTasks({ db: test.db, clock }).schedule(acme, CALLBACK, signal)
    await expect(scheduling).rejects.toThrow('too late')
    expect(await test.db.selectFrom('callback_tasks').selectAll().execute()).toEqual([])
    expect(await storedEvents(test.db)).toEqual([])
  })

  it('counts the half hour from when the caller wants to be called', async () => {
    const dueAt = new Date(clock.now() + 86_400_000)
    expect(await schedule({ ...CALLBACK, dueAt })).toMatchObject({
      due_at: dueAt,
      sla_due_at: new Date(dueAt.getTime() + 1_800_000),
    })
  })

  it('tells the tenant, as an event of the call', async () => {
    const { id } = await schedule()
    expect(await storedEvents(test.db)).toMatchObject([
      {
        ...{ event: 'callback.task.created', call_sid: 'CA1', sequence: 1 },
        body: {
          voice_session_id: SESSION,
          payload: { task: { id, status: 'open', customer_phone: '+12025550101', acknowledged_at: null } },
        },
      },
    ])
  })

  it('tells the tenant what it wants to be told by now, and not what it did when the call began', async () => {
    const silent = tenantTold('acme', null)
    const scheduleIn = (begun: typeof acme, present: typeof acme | null) =>
      makeCallbackTasks({ db: test.db, clock, tenants: { get: async () => present } }).schedule(begun, CALLBACK)
    await scheduleIn(acme, silent)
    expect(await storedEvents(test.db)).toEqual([])
    const { id } = await scheduleIn(silent, acme)
    expect(await storedEvents(test.db)).toMatchObject([{ body: { payload: { task: { id } } } }])
  })

  it('may belong to no call', async () => {
    expect(await schedule({ ...CALLBACK, call: null })).toMatchObject({ call_sid: null, stream_sid: null })
    expect(await storedEvents(test.db)).toMatchObject([{ call_sid: null, sequence: null }])
  })

  it('leaves neither task nor event when its transaction is rolled back', async () => {
    const undone = test.db.transaction().execute(async (tx) => {
      await scheduleCallback(tx, acme, CALLBACK, new Date(clock.now()))
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    expect(await test.db.selectFrom('callback_tasks').selectAll().execute()).toEqual([])
    expect(await storedEvents(test.db)).toEqual([])
  })

  it('knows no deleted tenant', async () => {
    await test.db.deleteFrom('tenants').execute()
    await expect(schedule()).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('an edit of a task', () => {
  it('finds none that was erased while it waited for it', async () => {
    const { id } = await schedule()
    await test.db.deleteFrom('callback_tasks').where('id', '=', id).execute()
    const wanted = { id, edit: { notes: 'Blue.' }, operator: 'ann' }
    const edited = test.db.transaction().execute((tx) => editTask(tx, acme, wanted, new Date(clock.now())))
    await expect(edited).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a task that was due in a queue when it was looked for', () => {
  it.each<[what: string, since: TaskSettings, status: string | null]>([
    ['is dispatched where nothing was changed since', {}, 'dispatching'],
    ['is not dispatched where it was put off since', { due_at: new Date(clock.now() + 1) }, null],
    ['is not dispatched where it was put into another queue since', { queue_key: 'sales' }, null],
  ])('%s', async (_what, since, status) => {
    const { id } = await schedule()
    await test.db
      .updateTable('callback_tasks')
      .set({ updated_at: new Date(clock.now()), ...since })
      .execute()
    const now = new Date(clock.now())
    const beginning = { operator: null, now, callLogId: newId<string>(clock.now()), dueIn: 'default' }
    const begun = await test.db.transaction().execute((tx) => beginDispatch(tx, acme.tenant_id, id, beginning))
    expect(begun?.status ?? null).toBe(status)
  })
})

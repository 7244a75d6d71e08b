import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeLog } from '../platform/log.ts'
import type { CallLogRow } from '../records/call-log-store.ts'
import type { SessionEndReason, SessionId } from '../records/call-values.ts'
import { NODE, someCall, someTurn, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { pressed } from '../records/pressed-keys.ts'
import { makeSessions } from '../records/sessions.ts'
import { putTurnsAcrossTenants, type TurnRow } from '../records/transcript-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { MISSED_CALL_KINDS, type MissedCallKind } from '../tenancy/tenant-values.ts'
import type { TaskDisposition } from './callback-task-values.ts'
import { makeDoNotCall } from './do-not-call.ts'
import { listMissedCalls, takeMissedCall } from './missed-call-store.ts'
import { collectMissedCalls } from './missed-calls.ts'

type Ended = { status?: CallLogRow['status']; end?: SessionEndReason; code?: string; from?: string; tenant?: string }

const MINUTE_MS = 60_000
const log = makeLog({ level: 'silent', secrets: [] })

const test = useDatabase({ isNew: true })
let clock: TestClock
let kinds: MissedCallKind[]
let calls: number
let fallback: PhoneNumber | null
/** Whether calls go on, and of which it was asked. */
let carrierSays: boolean | null
let asked: string[]

const told = (id: TenantId): TenantRuntime => {
  const tenant = tenantTold(id)
  const telephony = { ...tenant.telephony, fallback_number: fallback }
  return { ...tenant, telephony, missed_calls: { queue_key: 'callbacks', when: kinds } }
}
const tenants = { get: async (id: TenantId) => told(id) }
const goesOn = async (_tenant: TenantRuntime, callSid: string) => {
  asked.push(callSid)
  return carrierSays
}
const collect = (db = test.db) => collectMissedCalls({ db, clock, log, tenants, goesOn, isStopping: () => false })

beforeEach(async () => {
  clock = new TestClock()
  kinds = [...MISSED_CALL_KINDS]
  calls = 0
  fallback = null
  carrierSays = false
  asked = []
  for (const id of ['acme', 'globex']) await makeTenant(test.db, id)
  const document = JSON.stringify({ tenant_id: 'acme', missed_calls: {} })
  await test.db
    .updateTable('tenants')
    .set({ document })
    .where('tenant_id', '=', 'acme' as TenantId)
    .execute()
})

/** A call that came in and is over; each has a caller of its own. */
async function call({ status = 'completed', end = 'caller_hangup', code, from, tenant = 'acme' }: Ended = {}) {
  calls += 1
  const callSid = `CA${calls}`
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  const caller = from ?? `+1202555010${calls}`
  const { sessionId } = await sessions.open(tenantTold(tenant), someCall(callSid, { from: caller }))
  const ended = { ended_at: new Date(clock.now()) }
  await test.db
    .updateTable('call_logs')
    .set({ ...ended, status, error_code: code ?? null })
    .where('call_sid', '=', callSid)
    .execute()
  await test.db
    .updateTable('voice_sessions')
    .set({ ...ended, end_reason: end })
    .where('id', '=', sessionId)
    .execute()
  return { callSid, sessionId, caller }
}

const tasks = () =>
  test.db
    .selectFrom('callback_tasks')
    .select(['call_sid', 'customer_phone', 'queue_key', 'status', 'metadata'])
    .orderBy('call_sid')
    .execute()

describe('calls that came to nothing', () => {
  it.each([
    [{ status: 'busy', end: 'rejected' }, 'missed'],
    [{ status: 'no-answer', end: 'rejected' }, 'missed'],
    [{ status: 'canceled' }, 'missed'],
    [{ status: 'failed', end: 'rejected' }, 'failed'],
    [{ end: 'model_lost' }, 'failed'],
    [{ end: 'process_lost' }, 'failed'],
    [{ end: 'carrier_lost' }, 'failed'],
    [{ end: 'shutdown' }, 'failed'],
    [{ code: 'stream_lost' }, 'failed'],
    [{}, 'abandoned'],
    [{ end: 'agent_hangup' }, null],
    [{ end: 'supervisor' }, null],
    [{ status: 'busy', end: 'transferred' }, null],
    [{ status: 'busy', end: 'rejected', code: 'rejected' }, null],
  ] as const)('are told apart: %o is %s', async (ended, kind) => {
    const { callSid, caller } = await call(ended)
    expect(await collect()).toBe(kind === null ? 0 : 1)
    const task = { call_sid: callSid, customer_phone: caller, queue_key: 'callbacks', status: 'open' }
    expect(await tasks()).toEqual(kind === null ? [] : [{ ...task, metadata: { missed_call: kind } }])
    expect(await collect()).toBe(0)
  })

  it('have a task each, of which the tenant is told', async () => {
    const { callSid } = await call()
    await collect()
    expect(await storedEvents(test.db)).toContainEqual(
      expect.objectContaining({ event: 'callback.task.created', call_sid: callSid }),
    )
  })

  async function told(sessionId: SessionId, { role, text }: Pick<TurnRow, 'role' | 'text'>): Promise<void> {
    const { itemId, seq } = someTurn(2)
    await test.db.transaction().execute((tx) =>
      putTurnsAcrossTenants(tx, [
        {
          ...{ tenant_id: 'acme' as TenantId, session_id: sessionId, item_id: itemId, seq, role, text },
          ...{ unheard: '', start_ms: 0, end_ms: 1, interrupted: false },
          ...{ sent_ms: null, heard_ms: null, cost_usd: null, timeline: null, agent_name: null },
        },
      ]),
    )
  }

  it.each([
    ['has said something', { role: 'caller', text: 'Hello?' }, 0],
    ['has pressed a key', { role: 'system', text: pressed('4711') }, 0],
    ['was only told something', { role: 'system', text: 'The line is bad.' }, 1],
  ] as const)('are told apart where the caller %s', async (_what, turn, made) => {
    const { sessionId } = await call()
    await told(sessionId, turn)
    expect(await collect()).toBe(made)
  })

  it('are none of callers who have called again, and talk or have had a word', async () => {
    const { caller } = await call({ end: 'model_lost' })
    await clock.advance(1)
    const { sessionId } = await call({ from: caller })
    const set = (facts: Partial<CallLogRow>) =>
      test.db.updateTable('call_logs').set(facts).where('voice_session_id', '=', sessionId).execute()
    await set({ status: 'in-progress', ended_at: null })
    expect(await collect()).toBe(0)
    await set({ status: 'completed', ended_at: new Date(clock.now()) })
    await told(sessionId, { role: 'caller', text: 'Here I am again.' })
    expect(await collect()).toBe(0)
    await clock.advance(1)
    await call({ from: caller })
    expect(await collect()).toBe(1)
  })

  it('are none of callers whom we have called, and who talk or have had a word since', async () => {
    // It was begun before the one that was missed, which is why that one was: they were talking with us.
    const { callSid, sessionId } = await call()
    const { caller } = await call({ end: 'model_lost' })
    const set = (facts: Partial<CallLogRow>) =>
      test.db
        .updateTable('call_logs')
        .set({ direction: 'outbound', from: '+12025550199', to: caller, ...facts })
        .where('call_sid', '=', callSid)
        .execute()
    await set({ status: 'in-progress', ended_at: null })
    expect(await collect()).toBe(0)
    await told(sessionId, { role: 'caller', text: 'Thank you.' })
    await set({ status: 'completed', ended_at: new Date(clock.now() + 1) })
    expect(await collect()).toBe(0)
    await set({ answered_by: 'machine_start' })
    expect(await collect()).toBe(1)
  })

  it('are called back though we have talked before they called, or have not reached them since', async () => {
    const [before, since] = [await call(), await call()]
    await told(before.sessionId, { role: 'caller', text: 'Good-bye.' })
    await clock.advance(1)
    const { caller } = await call({ end: 'model_lost' })
    await clock.advance(1)
    const ours = { direction: 'outbound' as const, from: '+12025550199', to: caller }
    for (const [{ callSid }, facts] of [
      [before, {}],
      [since, { ended_at: new Date(clock.now()) }],
    ] as const)
      await test.db
        .updateTable('call_logs')
        .set({ ...ours, ...facts })
        .where('call_sid', '=', callSid)
        .execute()
    expect(await collect()).toBe(1)
  })

  it('are those that the tenant asks for, of its own calls', async () => {
    kinds = ['missed']
    await call()
    await call({ status: 'busy', tenant: 'globex' })
    expect(await collect()).toBe(0)
    await call({ status: 'busy' })
    expect(await collect()).toBe(1)
  })

  it('make one task for a caller who waits already, and none for one who cannot or must not be called', async () => {
    const { caller } = await call()
    await call({ from: caller })
    await call({ from: 'anonymous' })
    const listed = await call()
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants })
    await doNotCall.add('acme' as TenantId, { phone: listed.caller as PhoneNumber, reason: null, source: null })
    expect(await collect()).toBe(1)
    await call({ from: caller })
    expect(await collect()).toBe(0)
    // All of those calls came before somebody spoke with them.
    await clock.advance(MINUTE_MS)
    await complete('reached')
    expect(await collect()).toBe(0)
    await clock.advance(MINUTE_MS)
    await call({ from: caller })
    expect(await collect()).toBe(1)
  })

  async function complete(disposition: TaskDisposition): Promise<void> {
    const at = new Date(clock.now())
    const done = { status: 'completed' as const, disposition, completed_at: at, updated_at: at }
    await test.db.updateTable('callback_tasks').set(done).execute()
  }

  it('make a task though another one of the caller ends without a word to them, or is only written in', async () => {
    const { caller } = await call()
    expect(await collect()).toBe(1)
    await call({ from: caller })
    await clock.advance(MINUTE_MS)
    // Both have rung each other at once.
    await complete('no_answer')
    expect(await collect()).toBe(1)
    await complete('reached')
    await clock.advance(MINUTE_MS)
    await call({ from: caller })
    await clock.advance(MINUTE_MS)
    const noted = { notes: 'Sent the invoice by mail.', updated_at: new Date(clock.now()) }
    await test.db.updateTable('callback_tasks').set(noted).execute()
    expect(await collect()).toBe(1)
  })

  it('make no other task where the one that waited was dispatched since, in vain', async () => {
    const { caller } = await call()
    expect(await collect()).toBe(1)
    await call({ from: caller })
    await clock.advance(MINUTE_MS)
    const at = new Date(clock.now())
    const inVain = { status: 'cancelled' as const, disposition: 'failed' as const, updated_at: at }
    const dispatched = { ...inVain, last_dispatch_attempted_at: at }
    await test.db.updateTable('callback_tasks').set(dispatched).execute()
    expect(await collect()).toBe(0)
    await clock.advance(MINUTE_MS)
    await call({ from: caller })
    expect(await collect()).toBe(1)
  })

  it.each([
    ['cancelled', null],
    ['cancelled', 'failed'],
    ['completed', 'no_answer'],
  ] as const)('make one task of several in a row, also when it ends as %s (%s)', async (status, disposition) => {
    const { caller } = await call()
    for (let count = 0; count < 2; count += 1) {
      await clock.advance(5_000)
      await call({ from: caller })
    }
    await clock.advance(5_000)
    expect(await collect()).toBe(1)
    await clock.advance(MINUTE_MS)
    const at = new Date(clock.now())
    const ended = { status, disposition, completed_at: at, updated_at: at }
    await test.db.updateTable('callback_tasks').set(ended).execute()
    expect(await collect()).toBe(0)
    await call({ from: caller })
    expect(await collect()).toBe(1)
  })

  it.each([
    ['nobody can call', '+266696687', 1],
    ['has called over and over', '+12025550142', 2],
  ])('make tasks though there are a hundred before them of one who %s', async (_who, from, made) => {
    const { callSid } = await call({ from })
    await sql`
      insert into call_logs select (json_populate_record(log, json_build_object('id', gen_random_uuid(), 'call_sid', 'CB' || n))).*
        from call_logs log, generate_series(1, 120) n where call_sid = ${callSid}`.execute(test.db)
    await clock.advance(MINUTE_MS)
    const { caller } = await call()
    expect(await collect()).toBe(made)
    expect((await tasks()).map(({ customer_phone }) => customer_phone)).toContain(caller)
    expect(await collect()).toBe(0)
  })

  it('have a task each at once, however many were lost', async () => {
    const { callSid } = await call()
    await sql`
      insert into call_logs select (json_populate_record(log, json_build_object('id', gen_random_uuid(), 'call_sid', 'CB' || n,
               'from', '+1303555' || lpad(n::text, 4, '0')))).*
        from call_logs log, generate_series(1, 250) n where call_sid = ${callSid}`.execute(test.db)
    expect(await collect()).toBe(251)
    expect(await collect()).toBe(0)
  })

  it('are given five minutes where they were not taken, and somebody else may have answered them', async () => {
    fallback = '+12025550150' as PhoneNumber
    await call({ status: 'busy', end: 'rejected' })
    await call({ end: 'model_lost' })
    expect(await collect()).toBe(1)
    await clock.advance(5 * MINUTE_MS - 1)
    expect(await collect()).toBe(0)
    await clock.advance(1)
    expect(await collect()).toBe(1)
  })

  it('have no task while their callers talk at the fallback number, however long', async () => {
    fallback = '+12025550150' as PhoneNumber
    const { callSid } = await call({ status: 'busy', end: 'rejected' })
    const taken = await call({ end: 'model_lost' })
    carrierSays = true
    await clock.advance(20 * MINUTE_MS)
    expect(await collect()).toBe(1)
    expect(await tasks()).toMatchObject([{ call_sid: taken.callSid }])
    carrierSays = false
    expect(await collect()).toBe(1)
    expect(asked).toEqual([callSid, callSid])
  })

  it('have one where their carrier does not say whether they go on, which it is asked once', async () => {
    fallback = '+12025550150' as PhoneNumber
    for (let count = 0; count < 3; count += 1) await call({ status: 'busy', end: 'rejected' })
    carrierSays = null
    await clock.advance(5 * MINUTE_MS)
    expect(await collect()).toBe(3)
    expect(asked).toHaveLength(1)
  })

  it('are of the last hour, and of nobody who is not over', async () => {
    await call()
    await clock.advance(61 * MINUTE_MS)
    const { sessionId } = await call()
    await test.db.updateTable('voice_sessions').set({ ended_at: null }).where('id', '=', sessionId).execute()
    expect(await collect()).toBe(0)
  })

  it('are found and taken without reading the tasks of other callers, however many those have', async () => {
    for (let count = 0; count < 6; count += 1) await call()
    await sql`
      insert into callback_tasks (tenant_id, id, call_sid, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                  dispatch_attempt_count, created_at, updated_at)
      select 'acme', gen_random_uuid(), 'CAold' || n, '+1303' || lpad(n::text, 7, '0'), 'open', 'normal', 'one', '{}', at, 0, at, at
        from generate_series(1, 3000) n,
             lateral (select ${new Date(clock.now())}::timestamptz - interval '9 days' as at) made`.execute(test.db)
    // We have called as many meanwhile.
    await sql`
      insert into call_logs
      select (jsonb_populate_record(log, jsonb_build_object('id', gen_random_uuid(), 'call_sid', 'CAours' || n, 'voice_session_id', null,
                'direction', 'outbound', 'from', '+12025550199', 'to', '+1303' || lpad(n::text, 7, '0')))).*
        from call_logs log, generate_series(1, 3000) n
       where log.call_sid = 'CA1'`.execute(test.db)
    await sql`vacuum analyze`.execute(test.db)
    const now = clock.now()
    const page = {
      kinds,
      since: new Date(now - MINUTE_MS),
      begunAfter: new Date(now - 300 * MINUTE_MS),
      refusedBefore: new Date(now),
      after: null,
      limit: 10,
    }
    const missed = await listMissedCalls(test.db, 'acme' as TenantId, page)
    expect(missed).toHaveLength(6)
    const [plan] = await plansOf(test.db, (db) => listMissedCalls(db, 'acme' as TenantId, page))
    expect(plan?.rows).toBeLessThan(100)
    const take = (db: typeof test.db) =>
      db.transaction().execute(async (tx) => {
        for (const one of missed) expect(await takeMissedCall(tx, 'acme' as TenantId, one)).toBe(true)
      })
    const taking = await plansOf(test.db, take)
    expect(taking).toHaveLength(2 * missed.length)
    for (const { blocks } of taking) expect(blocks).toBeLessThan(20)
  })

  it('have one task, however many nodes look at once', async () => {
    for (let count = 0; count < 6; count += 1) await call()
    const nodes = await Promise.all([test.anotherNode(), test.anotherNode(), test.anotherNode()])
    const made = await Promise.all(nodes.map(({ db }) => collect(db)))
    expect(made.reduce((a, b) => a + b)).toBe(6)
    expect(await tasks()).toHaveLength(6)
  })
})

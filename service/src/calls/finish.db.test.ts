import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { passingWork } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import type { NodeId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import { type SessionEnd, statusReport } from '../records/call-record.ts'
import { NODE, OTHER_NODE, someCall, someTurn, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { Journal } from '../records/journal.ts'
import { makeSessions, type Sessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type CallEnding, type Finishing, makeFinishing } from './finish.ts'
import { makeEndLostCall } from './lost-calls.ts'
import { makeOwnPutThrough, makePutThrough } from './put-through.ts'
import { makeCallStatuses, NOTHING_SAID } from './record-status.ts'

const test = useDatabase()
const acme = tenantTold('acme')
const HELD = { tenantId: acme.tenant_id, callSid: 'CA1', epoch: 1 }
const STREAM = { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: 'realtime-1', voice: null }
let clock: TestClock
let lines: Record<string, unknown>[]
let journal: Journal
let sessions: Sessions
let finishing: Finishing
/** What asking for the tenant does, which is where a database that is away shows first. */
let findTenant: () => Promise<TenantRuntime | null>

beforeEach(async () => {
  clock = new TestClock()
  lines = []
  const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } })
  journal = new Journal({ db: test.db, clock, log })
  sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  findTenant = async () => acme
  finishing = makeFinishing({ db: test.db, clock, log, journal, tenants: { get: () => findTenant() } })
  await makeTenant(test.db, 'acme')
  await sessions.open(acme, someCall('CA1'))
  await sessions.started(acme, STREAM)
  await clock.advance(61_400)
})
afterEach(async () => {
  await Promise.all([journal.close(), finishing.close()])
  if (clock.pendingTimers > 0) throw new Error('the end of a call left a timer')
})

function ending(facts: Partial<CallEnding> = {}, endReason: SessionEnd['endReason'] = 'caller_hangup'): CallEnding {
  const at = new Date(clock.now())
  const session: SessionEnd = {
    ...{ endReason, at },
    latency: { greetingMs: 420, responseP50Ms: 700, responseP95Ms: 900, interruptions: 2, responseTimes: '3e340' },
    usage: { inputTokens: 900, outputTokens: 300, cachedTokens: 100, audioSeconds: 40.5 },
  }
  return { tenantId: acme.tenant_id, callSid: 'CA1', epoch: 1, session, call: statusReport('completed', at), ...facts }
}

async function stored() {
  const log = await test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
  const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  return { log, session }
}

/** What notes a call as put through by the word of a node. */
function sayingThrough(nodeId: NodeId) {
  return makeOwnPutThrough({ db: test.db, clock, nodeId, tenants: { get: () => findTenant() } })
}

/** What is told after the call and its session have started. */
async function told() {
  return (await storedEvents(test.db)).filter(({ sequence }) => sequence !== null && sequence > 2)
}

/** How many wait for what somebody else holds. */
async function lockWaiters(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
  return rows.length
}

describe('the end of a call', () => {
  it('closes its session and completes its log', async () => {
    const at = new Date(clock.now())
    await finishing.finish(ending())
    const { log, session } = await stored()
    expect(log).toMatchObject({ status: 'completed', ended_at: at })
    expect(session).toMatchObject({
      ...{ call_status: 'completed', ended_at: at, duration_seconds: 61, end_reason: 'caller_hangup' },
      latency: {
        ...{ greeting_ms: 420, response_p50_ms: 700, response_p95_ms: 900, interruptions: 2 },
        response_times: '3e340',
      },
      usage: { input_tokens: 900, output_tokens: 300, cached_tokens: 100, audio_seconds: 40.5 },
    })
  })

  it('tells the tenant of both, with all that was said until then and the figures at the top', async () => {
    const { sessionId } = await sessions.open(acme, someCall('CA1'))
    const calls = journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 })
    for (const seq of [1, 2]) calls.append(someTurn(seq))
    const tool = { callId: 'call_1', seq: 1, name: 'end_call', argumentsText: '{"reason":"done"}', result: 'ok' }
    calls.tool({ ...tool, status: 'ok', startMs: 60_000, durationMs: 5 })
    await passingWork(clock, finishing.finish(ending()))
    const events = (await told()).filter(({ event }) => event !== 'voice.transcript.turn')
    expect(events.map(({ body }) => body)).toMatchObject([
      {
        event: 'voice.session.completed',
        payload: {
          voice_session: {
            ...{ id: sessionId, end_reason: 'caller_hangup' },
            transcript: [{ text: 'Sentence 1.' }, { text: 'Sentence 2.' }],
            function_calls: [{ name: 'end_call', arguments: { reason: 'done' }, result: 'ok' }],
          },
        },
      },
      {
        event: 'voice.call.completed',
        payload: { duration_seconds: 61, status: 'completed', call_log: { call_sid: 'CA1', status: 'completed' } },
      },
    ])
    // What is counted of it is nobody's business.
    expect(JSON.stringify(events)).not.toContain('response_times')
  })

  it('is told once however often and by whomever the call is ended at once', async () => {
    const statuses = makeCallStatuses({
      ...{ db: test.db, clock, nodeId: NODE, willEnd: () => true },
      tenants: { get: () => findTenant() },
    })
    const report = statusReport('completed', new Date(clock.now()))
    const reasons = ['caller_hangup', 'agent_hangup', 'carrier_lost', 'max_duration'] as const
    const enders = Array.from({ length: 20 }, (_, n) =>
      n % 3 === 0
        ? statuses.record(acme.tenant_id, 'CA1', { ...report, durationSeconds: 60 })
        : finishing.finish(ending({}, reasons[n % 4])),
    )
    await Promise.all(enders)
    expect((await told()).map(({ event, sequence }) => [event, sequence])).toEqual([
      ['voice.session.completed', 3],
      ['voice.call.completed', 4],
    ])
    const { log, session } = await stored()
    expect(log).toMatchObject({ status: 'completed', duration_seconds: 60 })
    expect(session).toMatchObject({ duration_seconds: 61 })
  })

  it('is told only when the carrier says so, where the session ends before the call', async () => {
    await finishing.finish(ending({ call: null }, 'transferred'))
    expect((await told()).map(({ event }) => event)).toEqual(['voice.session.completed'])
    expect((await stored()).log).toMatchObject({ status: 'in-progress', ended_at: null })
    const statuses = makeCallStatuses({
      ...{ db: test.db, clock, nodeId: NODE, willEnd: () => true },
      tenants: { get: () => findTenant() },
    })
    await statuses.record(acme.tenant_id, 'CA1', statusReport('completed', new Date(clock.now() + 9_000)))
    expect((await told()).map(({ event }) => event)).toEqual(['voice.session.completed', 'voice.call.completed'])
  })

  it('is told when the session has ended, where the carrier was first', async () => {
    const statuses = makeCallStatuses({
      ...{ db: test.db, clock, nodeId: NODE, willEnd: () => true },
      tenants: { get: () => findTenant() },
    })
    await statuses.record(acme.tenant_id, 'CA1', statusReport('completed', new Date(clock.now())))
    expect(await told()).toEqual([])
    await finishing.finish(ending({ call: null }))
    expect((await told()).map(({ event }) => event)).toEqual(['voice.session.completed', 'voice.call.completed'])
  })

  it('counts for nothing from a stream that has lost the call', async () => {
    await test.db.updateTable('call_directory').set({ epoch: 2 }).execute()
    await finishing.finish(ending())
    expect((await stored()).session.ended_at).toBeNull()
    expect(await told()).toEqual([])
  })

  it('counts for nothing when the stream to which its session was about to change began on another node', async () => {
    await test.db.updateTable('call_directory').set({ epoch: 2, owner: OTHER_NODE }).execute()
    await finishing.finish(ending({ next: [{ epoch: 2, owner: NODE }] }))
    expect((await stored()).session.ended_at).toBeNull()
    await finishing.finish(ending({ next: [{ epoch: 2, owner: OTHER_NODE }] }))
    expect((await stored()).session.ended_at).not.toBeNull()
  })

  it('is told late by a session that was taken for lost: the reason, and what it came to', async () => {
    const endLost = makeEndLostCall({ db: test.db, clock, tenants: { get: () => findTenant() } })
    await test.db.updateTable('call_directory').set({ epoch: 2, owner: null }).execute()
    const at = new Date(clock.now())
    await endLost({ tenantId: acme.tenant_id, callSid: 'CA1', epoch: 2 }, statusReport('completed', at))
    const before = (await stored()).session
    expect(before).toMatchObject({ end_reason: 'process_lost', usage: { input_tokens: 0 } })
    await clock.advance(60_000)
    expect(await finishing.finish(ending({ streamSid: 'MZ0' }))).toBe(false)
    expect(lines.at(-1)).toMatchObject({ reason: 'caller_hangup', usage: { inputTokens: 900 } })
    expect(await finishing.finish(ending({ streamSid: 'MZ1' }))).toBe(true)
    expect((await stored()).session).toMatchObject({
      ...{ end_reason: 'caller_hangup', ended_at: before.ended_at, duration_seconds: before.duration_seconds },
      latency: { greeting_ms: 420, response_p50_ms: 700, response_p95_ms: 900, interruptions: 2 },
      usage: { input_tokens: 900, output_tokens: 300, cached_tokens: 100, audio_seconds: 40.5 },
    })
    await finishing.finish(ending({ streamSid: 'MZ1' }, 'agent_hangup'))
    expect((await stored()).session).toMatchObject({ end_reason: 'caller_hangup' })
  })

  /** Two answers are said, and stored with what they cost. */
  async function said(): Promise<void> {
    const { sessionId } = await sessions.open(acme, someCall('CA1'))
    const turns = journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 })
    for (const seq of [1, 3]) turns.append(someTurn(seq, { costUsd: 0.0125 }))
    await passingWork(clock, journal.flush())
  }

  /** What is known of a session that never came to be. */
  function untold(): CallEnding {
    return ending({ session: { ...NOTHING_SAID, endReason: 'caller_hangup', at: new Date(clock.now()) } })
  }

  const lost = () =>
    makeEndLostCall({ db: test.db, clock, tenants: { get: () => findTenant() } })(
      { tenantId: acme.tenant_id, callSid: 'CA1', epoch: 1 },
      statusReport('completed', new Date(clock.now())),
    )
  const reported = (willEnd: boolean) =>
    makeCallStatuses({
      ...{ db: test.db, clock, nodeId: NODE, willEnd: () => willEnd },
      tenants: { get: () => findTenant() },
    }).record(acme.tenant_id, 'CA1', statusReport('completed', new Date(clock.now())))

  it.each([
    ['its process is lost', 'process_lost', () => lost()],
    ['its stream is lost, and with it its session', 'carrier_lost', () => reported(false)],
    ['a stream that goes on with it never comes to its session', 'caller_hangup', () => finishing.finish(untold())],
    ['it goes on elsewhere', 'transferred', () => makePutThrough({ db: test.db, clock })(acme, 'CA1')],
  ])('costs what its stored turns have where nobody tells it: %s', async (_how, endReason, end) => {
    await said()
    await end()
    const { log, session } = await stored()
    expect([session.end_reason, session.cost_usd, log.cost_usd]).toEqual([endReason, 0.025, 0.025])
    await reported(true)
    const bills = await test.db.selectFrom('billing_outbox').select('body').execute()
    expect(bills).toMatchObject([{ body: { payload: { outcome: { cost_usd: 0.025, estimated: true } } } }])
  })

  it('costs no less than was known of it already', async () => {
    await said()
    const { session: progress } = ending()
    await sessions.progressed(acme, { callSid: 'CA1', epoch: 1, progress: { ...progress, costUsd: 0.5 } })
    await lost()
    expect((await stored()).log.cost_usd).toBe(0.5)
    await finishing.finish(ending({ streamSid: 'MZ1', session: { ...progress, costUsd: 0.75 } }))
    expect((await stored()).log.cost_usd).toBe(0.75)
  })

  it('goes on elsewhere by the word of the node whose stream has it, of another node or an older stream it does not', async () => {
    const sayingSo = (nodeId: NodeId, epoch: number) => sayingThrough(nodeId)(acme, { ...HELD, epoch })
    await sayingSo(OTHER_NODE, 1)
    await test.db.updateTable('call_directory').set({ epoch: 2 }).execute()
    await sayingSo(NODE, 1)
    expect((await stored()).session.end_reason).toBeNull()
    await sayingSo(NODE, 2)
    expect((await stored()).session.end_reason).toBe('transferred')
  })

  it.each<[string, TenantRuntime | null, string[]]>([
    ['all that it asks for by now', acme, ['voice.session.completed']],
    ['nothing that it asks for no more', tenantTold('acme', null), []],
  ])('tells its tenant, by the word of the node whose stream has it, %s', async (_what, present, events) => {
    findTenant = async () => present
    const begun = tenantTold('acme', events.length > 0 ? null : ['voice.session.completed'])
    await sayingThrough(NODE)(begun, HELD)
    expect((await told()).map(({ event }) => event)).toEqual(events)
  })

  it('changes nothing of an unknown call, nor when the tenant is gone', async () => {
    await finishing.finish(ending({ callSid: 'CA2' }))
    findTenant = async () => null
    await finishing.finish(ending())
    expect((await stored()).session.ended_at).toBeNull()
  })

  it('and the deletion of its tenant never wait for each other', async () => {
    const { db } = await test.anotherNode()
    const { sessionId } = await sessions.open(acme, someCall('CA1'))
    const calls = journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 })
    let finished: Promise<boolean> | undefined
    await db.transaction().execute(async (tx) => {
      // As a deletion begins.
      await sql`select from tenants for update`.execute(tx)
      finished = finishing.finish(ending())
      calls.append(someTurn(1))
      await clock.advance(250)
      if (test.kind === 'server') await until(async () => (await lockWaiters()) === 2, { what: 'both to wait' })
      await sql`delete from tenants`.execute(tx)
    })
    await finished
    await passingWork(clock, journal.flush())
    expect(await test.db.selectFrom('call_directory').selectAll().execute()).toEqual([])
    // The turn found its call gone.
    expect(lines).toMatchObject([{ msg: 'journal entries of calls that are not ours any more' }])
  })

  it('passes on what is no matter of waiting', async () => {
    findTenant = () => Promise.reject(new Error('a fault'))
    await expect(finishing.finish(ending())).rejects.toThrow('a fault')
  })
})

describe('while the database cannot be written', () => {
  const away = (table: string) => sql`alter table ${sql.id(table)} rename to away`.execute(test.db)
  const back = (table: string) => sql`alter table away rename to ${sql.id(table)}`.execute(test.db)

  it('the end of a call waits for it, with the instant at which the call ended', async () => {
    const at = new Date(clock.now())
    await away('voice_sessions')
    const finished = finishing.finish(ending())
    await until(() => lines.length === 1, { what: 'the warning' })
    await clock.advance(5_000)
    await back('voice_sessions')
    await passingWork(clock, finished)
    expect((await stored()).session).toMatchObject({ ended_at: at, duration_seconds: 61 })
    expect(lines).toMatchObject([{ level: 'warn', call_sid: 'CA1' }])
  })

  it('the end of a call waits for what was said in it', async () => {
    const { sessionId } = await sessions.open(acme, someCall('CA1'))
    await away('transcript_turns')
    journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 }).append(someTurn(1))
    const finished = finishing.finish(ending())
    await clock.advance(250)
    await until(() => lines.length === 1, { what: 'the journal to wait' })
    expect((await stored()).session.ended_at).toBeNull()
    await back('transcript_turns')
    await passingWork(clock, finished)
    expect((await told()).map(({ event }) => event)).toEqual([
      'voice.transcript.turn',
      'voice.session.completed',
      'voice.call.completed',
    ])
  })

  it('an end is tried a last time when the service stops, and whoever waits is told', async () => {
    await away('voice_sessions')
    const refused = expect(finishing.finish(ending())).rejects.toThrow('voice_sessions')
    await until(() => lines.length === 1, { what: 'the warning' })
    await Promise.all([finishing.close(), finishing.close()])
    await refused
    await back('voice_sessions')
    expect(clock.pendingTimers).toBe(0)
  })
})

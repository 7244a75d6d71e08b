import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { AgentVersionId } from '../kernel/ids.ts'
import { type CallReport, statusReport } from '../records/call-record.ts'
import type { CallStatus } from '../records/call-values.ts'
import { NODE, OTHER_NODE, someCall, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions, type Sessions } from '../records/sessions.ts'
import { type CallStatuses, makeCallStatuses } from './record-status.ts'

const test = useDatabase()
const acme = tenantTold('acme')
const STREAM = { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: null, voice: null }
let clock: TestClock
let sessions: Sessions
let statuses: CallStatuses
/** Whether this process has the session of the call. */
let isHere: boolean

beforeEach(async () => {
  clock = new TestClock()
  isHere = true
  sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  const tenants = { get: async (id: string) => (id === 'acme' || id === 'globex' ? tenantTold(id) : null) }
  statuses = makeCallStatuses({ db: test.db, clock, nodeId: NODE, tenants, willEnd: () => isHere })
  await makeTenant(test.db, 'acme')
  await sessions.open(acme, someCall('CA1'))
})

function after(ms: number, status: CallStatus, facts: Partial<CallReport> = {}): CallReport {
  return { ...statusReport(status, new Date(clock.now() + ms)), ...facts }
}

function record(report: CallReport) {
  return statuses.record(acme.tenant_id, 'CA1', report)
}

function log() {
  return test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
}

function session() {
  return test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
}

async function eventNames(): Promise<string[]> {
  return (await storedEvents(test.db)).map(({ event }) => event)
}

describe('the reports of a carrier', () => {
  it('are applied once, in any order, also when they come at once and again', async () => {
    await sessions.started(acme, STREAM)
    const reports = [
      after(0, 'ringing'),
      after(2_000, 'in-progress', { answeredBy: 'human' }),
      after(62_000, 'completed', { durationSeconds: 60 }),
    ]
    await Promise.all([...reports, ...reports.toReversed(), ...reports].map(record))
    expect(await log()).toMatchObject({
      ...{ status: 'completed', answered_by: 'human', duration_seconds: 60 },
      ...{ ended_at: new Date(clock.now() + 62_000), answered_at: new Date(clock.now()) },
    })
    expect((await session()).call_status).toBe('completed')
  })

  it('answer the call when they are the first to say so, and tell it once', async () => {
    expect(await record(after(500, 'in-progress'))).toEqual({ isOver: false })
    await record(after(500, 'in-progress'))
    await sessions.started(acme, STREAM)
    expect(await eventNames()).toEqual(['voice.call.started', 'voice.session.started'])
  })

  it.each<[CallStatus, string, string[]]>([
    ['completed', 'caller_hangup', ['voice.session.completed', 'voice.call.completed']],
    ['canceled', 'caller_hangup', ['voice.session.completed', 'voice.call.failed', 'voice.call.completed']],
    ['busy', 'rejected', ['voice.session.completed', 'voice.call.failed', 'voice.call.completed']],
  ])('end a call without a stream, its session with it: %s', async (status, endReason, events) => {
    expect(await record(after(4_000, status))).toEqual({ isOver: true })
    expect(await session()).toMatchObject({ end_reason: endReason, duration_seconds: 0 })
    expect(await eventNames()).toEqual(events)
    await record(after(4_000, status))
    expect(await eventNames()).toEqual(events)
  })

  it('end a call that was placed, and taken back while it rang, as one that nobody answered', async () => {
    await sessions.open(acme, someCall('CA2', { direction: 'outbound' }))
    await statuses.record(acme.tenant_id, 'CA2', after(4_000, 'canceled'))
    const ended = await test.db
      .selectFrom('voice_sessions')
      .select('end_reason')
      .where('call_sid', '=', 'CA2')
      .execute()
    expect(ended).toEqual([{ end_reason: 'rejected' }])
  })

  it.each([
    [{ extraction: { type: 'object', properties: {} } }, 'missing', 'The call was not answered.'],
    [{ extraction: null }, null, null],
  ])('say of a call that never began that there is nothing to extract: %j', async (config, status, reason) => {
    const [id, versionId] = ['0190a000-0000-7000-8000-00000000000a', '0190a000-0000-7000-8000-00000000000b']
    await sql`insert into agents (tenant_id, id, agent_key, name, description, created_at, updated_at)
              values ('acme', ${id}, 'support', 'Robin', '', now(), now())`.execute(test.db)
    await sql`insert into agent_versions (tenant_id, id, agent_id, version_number, status, config, created_at, updated_at)
              values ('acme', ${versionId}, ${id}, 1, 'published', ${JSON.stringify(config)}, now(), now())`.execute(
      test.db,
    )
    const agent = { agentKey: 'support', agentName: 'Robin', versionId: versionId as AgentVersionId, versionNumber: 1 }
    await sessions.open(acme, someCall('CA2', { agent }))
    await statuses.record(acme.tenant_id, 'CA2', after(4_000, 'canceled'))
    const ended = test.db.selectFrom('voice_sessions').select(['extraction_status', 'extraction_reason'])
    expect(await ended.where('call_sid', '=', 'CA2').execute()).toEqual([
      { extraction_status: status, extraction_reason: reason },
    ])
  })

  it('leave the session that has a stream to its own end', async () => {
    await sessions.started(acme, STREAM)
    expect(await record(after(9_000, 'completed'))).toEqual({ isOver: true })
    expect((await session()).ended_at).toBeNull()
    expect(await eventNames()).toEqual(['voice.call.started', 'voice.session.started'])
  })

  it('end the session that was given to a stream of this node and never began here', async () => {
    await sessions.started(acme, STREAM)
    isHere = false
    await record(after(9_000, 'completed'))
    expect(await session()).toMatchObject({ end_reason: 'carrier_lost', ended_at: new Date(clock.now() + 9_000) })
    const ends = ['voice.session.completed', 'voice.call.completed']
    expect(await eventNames()).toEqual(['voice.call.started', 'voice.session.started', ...ends])
  })

  it('leave the session that another node has to that', async () => {
    await makeSessions({ db: test.db, clock, nodeId: OTHER_NODE }).started(acme, STREAM)
    isHere = false
    await record(after(9_000, 'completed'))
    expect((await session()).ended_at).toBeNull()
  })

  it('F28: change nothing an hour after the call was closed without them, and tell nothing twice', async () => {
    await sessions.started(acme, STREAM)
    isHere = false
    const reports = [
      after(0, 'ringing'),
      after(500, 'in-progress'),
      after(60_000, 'completed', { durationSeconds: 60 }),
      // By the clock of whoever sends it again.
      after(3_660_000, 'completed', { durationSeconds: 60 }),
    ]
    await record({ ...after(60_000, 'completed'), durationSeconds: 60 })
    const [closed, told] = [[await log(), await session()], await eventNames()]
    await clock.advance(3_600_000)
    for (const report of reports) expect(await record(report)).toEqual({ isOver: true })
    expect([await log(), await session()]).toEqual(closed)
    expect(await eventNames()).toEqual(told)
    expect(told.filter((event) => event === 'voice.call.completed')).toHaveLength(1)
  })

  it('may say nothing of the status', async () => {
    await record({ ...after(0, 'ringing'), status: null, answeredBy: 'machine_start' })
    expect(await log()).toMatchObject({ status: 'ringing', answered_by: 'machine_start' })
  })

  it('change nothing of an unknown call, of another tenant and of none', async () => {
    const globex = await makeTenant(test.db, 'globex')
    expect(await statuses.record(globex, 'CA1', after(0, 'completed'))).toBeNull()
    expect(await statuses.record(acme.tenant_id, 'CA2', after(0, 'completed'))).toBeNull()
    expect(await statuses.record('nobody' as typeof globex, 'CA1', after(0, 'completed'))).toBeNull()
    expect(await log()).toMatchObject({ status: 'ringing' })
  })
})

describe('a call whose stream can no longer begin', () => {
  it('is over, and so is its session', async () => {
    await statuses.cancelUnbegun(acme.tenant_id, 'CA1')
    expect(await log()).toMatchObject({ status: 'canceled' })
    expect((await session()).ended_at).not.toBeNull()
    expect(await sessions.started(acme, STREAM)).toBeNull()
  })

  it('is left alone when it has begun, and when nobody knows it', async () => {
    await sessions.started(acme, STREAM)
    await statuses.cancelUnbegun(acme.tenant_id, 'CA1')
    await statuses.cancelUnbegun(acme.tenant_id, 'CA2')
    expect([(await log()).status, (await session()).ended_at]).toEqual(['in-progress', null])
  })
})

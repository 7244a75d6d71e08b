import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { CallStatus, SessionId } from './call-values.ts'
import { NODE, OTHER_NODE, someCall, storedEvents, tenantTold } from './calls.fixture.ts'
import { makeSessions, type NewStream, type Sessions } from './sessions.ts'

const test = useDatabase()
const acme = tenantTold('acme')
const STREAM: NewStream = { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: 'realtime-1', voice: 'marin' }
let clock: TestClock
let sessions: Sessions

beforeEach(async () => {
  clock = new TestClock()
  sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  await makeTenant(test.db, 'acme')
})

async function stored() {
  const log = await test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
  const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  const entry = await test.db.selectFrom('call_directory').selectAll().executeTakeFirstOrThrow()
  return { log, session, entry }
}

/** As another stream's taking over does it. */
async function raiseEpoch(): Promise<void> {
  await test.db.updateTable('call_directory').set({ epoch: 2, owner: null }).execute()
}

describe('open', () => {
  it('writes the directory, a log that rings and a session that has not started, and tells nobody', async () => {
    const { sessionId, ...rest } = await sessions.open(acme, someCall('CA1', { metadata: { order: 7 } }))
    expect(rest).toEqual({
      epoch: 1,
      isNew: true,
      isOver: false,
      errorCode: null,
      agentKey: 'support',
      agentVersionId: null,
    })
    const now = new Date(clock.now())
    const both = { tenant_id: 'acme', call_sid: 'CA1', org_id: 'org-1', direction: 'inbound', metadata: { order: 7 } }
    const agent = { agent_key: 'support', agent_name: 'Robin', version_number: 3 }
    const { log, session, entry } = await stored()
    expect(log).toMatchObject({ ...both, ...agent, status: 'ringing', voice_session_id: sessionId, started_at: now })
    expect(session).toMatchObject({ ...both, ...agent, id: sessionId, call_status: 'ringing', started_at: null })
    expect(entry).toMatchObject({ call_sid: 'CA1', tenant_id: 'acme', session_id: sessionId, owner: null, epoch: 1 })
    expect(await storedEvents(test.db)).toEqual([])
  })

  it('gives twenty who ask at once, on two nodes, the same session, opened once', async () => {
    const other = makeSessions({ db: (await test.anotherNode()).db, clock, nodeId: OTHER_NODE })
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? sessions : other).open(acme, someCall('CA1'))),
    )
    expect(new Set(opened.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1)
    for (const table of ['call_logs', 'voice_sessions', 'call_directory'] as const) {
      expect(await test.db.selectFrom(table).selectAll().execute()).toHaveLength(1)
    }
  })

  it('keeps the agent that a call was opened with', async () => {
    await sessions.open(acme, someCall('CA1'))
    const agent = { agentKey: 'sales', agentName: 'Kim', versionId: null, versionNumber: 9 }
    expect(await sessions.open(acme, someCall('CA1', { agent }))).toMatchObject({ isNew: false, agentKey: 'support' })
    expect((await stored()).log.agent_name).toBe('Robin')
  })

  it("refuses another tenant's call and tells nothing of it", async () => {
    await makeTenant(test.db, 'globex')
    await sessions.open(acme, someCall('CA1'))
    await expect(sessions.open(tenantTold('globex'), someCall('CA1'))).rejects.toMatchObject({ code: 'conflict' })
    expect(await test.db.selectFrom('voice_sessions').select('tenant_id').execute()).toEqual([{ tenant_id: 'acme' }])
  })

  it('knows no deleted tenant', async () => {
    await expect(sessions.open(tenantTold('nobody'), someCall('CA1'))).rejects.toMatchObject({ code: 'not_found' })
  })

  it.each<[CallStatus, boolean]>([
    ['in-progress', false],
    ['completed', true],
    ['canceled', true],
  ])('says of a call that is %s whether it is over', async (status, isOver) => {
    await sessions.open(acme, someCall('CA1'))
    await test.db.updateTable('call_logs').set({ status }).execute()
    expect(await sessions.open(acme, someCall('CA1'))).toMatchObject({ isOver })
  })

  describe('under a limit of calls at once', () => {
    const two = { ...acme, limits: { ...acme.limits, max_concurrent_calls: 2 } }
    const endOf = (callSid: string) =>
      test.db.updateTable('call_logs').set({ status: 'completed' }).where('call_sid', '=', callSid).execute()

    it('opens exactly as many at the same moment on two nodes', async () => {
      const other = makeSessions({ db: (await test.anotherNode()).db, clock, nodeId: OTHER_NODE })
      const asked = Array.from({ length: 20 }, (_, n) => (n % 2 ? sessions : other).open(two, someCall(`CA${n}`)))
      const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
      expect(refused).toMatchObject(Array(18).fill({ reason: { code: 'tenant_busy' } }))
      expect(await test.db.selectFrom('call_directory').select('call_sid').execute()).toHaveLength(2)
    })

    it('counts calls of every direction until they are over, and none of others', async () => {
      await makeTenant(test.db, 'globex')
      await sessions.open(tenantTold('globex'), someCall('CB1'))
      await sessions.open(two, someCall('browser-1', { direction: 'browser' }))
      await sessions.open(two, someCall('CA1', { direction: 'outbound' }))
      await expect(sessions.open(two, someCall('CA2'))).rejects.toMatchObject({ code: 'tenant_busy' })
      await endOf('browser-1')
      expect(await sessions.open(two, someCall('CA2'))).toMatchObject({ isNew: true })
    })

    it('counts none that no call can last for', async () => {
      for (const callSid of ['CA1', 'CA2']) await sessions.open(two, someCall(callSid))
      await clock.advance(5 * 3_600_000)
      expect(await sessions.open(two, someCall('CA3'))).toMatchObject({ isNew: true })
    })

    it('gives a call that asks again its session, whatever there is by then', async () => {
      const { sessionId } = await sessions.open(two, someCall('CA1'))
      for (const callSid of ['CA2', 'CA3', 'CA4']) await sessions.open(acme, someCall(callSid))
      expect(await sessions.open(two, someCall('CA1'))).toMatchObject({ sessionId, isNew: false })
      const { tenant_id } = tenantTold('globex')
      await makeTenant(test.db, tenant_id)
      await expect(sessions.open({ ...two, tenant_id }, someCall('CA1'))).rejects.toMatchObject({ code: 'conflict' })
    })
  })

  it('goes with its tenant', async () => {
    await sessions.open(acme, someCall('CA1'))
    await test.db.deleteFrom('tenants').execute()
    expect(await test.db.selectFrom('call_directory').selectAll().execute()).toEqual([])
    expect(await test.db.selectFrom('voice_sessions').selectAll().execute()).toEqual([])
  })
})

describe('started', () => {
  beforeEach(async () => {
    await sessions.open(acme, someCall('CA1'))
    await clock.advance(3_000)
  })

  it('gives the call to the stream: it is answered and in progress', async () => {
    const now = new Date(clock.now())
    const { sessionId } = (await sessions.started(acme, STREAM)) ?? {}
    const { log, session, entry } = await stored()
    expect(entry).toMatchObject({ session_id: sessionId, owner: NODE, epoch: 1 })
    expect(log).toMatchObject({ status: 'in-progress', answered_at: now, stream_sid: 'MZ1' })
    expect(log.started_at).toEqual(new Date(now.getTime() - 3_000))
    expect(session).toMatchObject({ call_status: 'in-progress', started_at: now, stream_sid: 'MZ1', resumed_count: 0 })
    expect(session).toMatchObject({ model: 'realtime-1', voice: 'marin', audio_output_provider: 'primary' })
  })

  it('tells the tenant that the call and its session have started, once', async () => {
    await sessions.started(acme, STREAM)
    await sessions.started(acme, STREAM)
    expect((await storedEvents(test.db)).map(({ sequence, body }) => [sequence, body])).toMatchObject([
      [1, { event: 'voice.call.started', call_sid: 'CA1', payload: { call_log: { status: 'in-progress' } } }],
      [2, { event: 'voice.session.started', call_sid: 'CA1', payload: { voice_session: { model: 'realtime-1' } } }],
    ])
  })

  it('has one winner of twenty streams that ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sessions.started(acme, { ...STREAM, streamSid: `MZ${n}` })),
    )
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
  })

  it('lets the stream that has the call ask again, and no other, also not on another node', async () => {
    const first = await sessions.started(acme, STREAM)
    expect(await sessions.started(acme, STREAM)).toMatchObject({ sessionId: first?.sessionId })
    expect(await sessions.started(acme, { ...STREAM, streamSid: 'MZ2' })).toBeNull()
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    expect(await other.started(acme, STREAM)).toBeNull()
  })

  it('gives a call that is taken over to the stream of the new epoch, and tells that the session goes on', async () => {
    const first = await sessions.started(acme, STREAM)
    await raiseEpoch()
    expect(await sessions.started(acme, { ...STREAM, streamSid: 'MZ2' })).toBeNull()
    const { before, ...taken } = (await sessions.started(acme, { ...STREAM, streamSid: 'MZ2', epoch: 2 })) ?? {}
    expect({ ...taken, before: null }).toEqual(first)
    expect(before).toMatchObject({ streamSid: 'MZ1', turns: [], toolCalls: [] })
    expect((await stored()).session).toMatchObject({ stream_sid: 'MZ2', resumed_count: 1 })
    expect((await storedEvents(test.db)).at(-1)).toMatchObject({ event: 'voice.session.resumed', sequence: 3 })
  })

  it('tells who goes on whom the call was escalated to, and whether its agent has paused the recording', async () => {
    const first = await sessions.started(acme, STREAM)
    const calledTool = (seq: number, result: Record<string, unknown>) => {
      const { tenant_id } = acme
      const call = { tenant_id, session_id: first?.sessionId as SessionId, call_id: `c${seq}`, seq, arguments: '{}' }
      const status = 'ok' in result ? ('ok' as const) : ('error' as const)
      const facts = { name: 'pause_recording', status, result: JSON.stringify(result), start_ms: 0, duration_ms: 0 }
      return test.db
        .insertInto('function_calls')
        .values({ ...call, ...facts })
        .execute()
    }
    const next = async (epoch: number) => {
      const started = await sessions.started(acme, { ...STREAM, epoch, streamSid: `MZ${epoch}` })
      return [started?.before?.isRecordingPaused, started?.before?.escalation]
    }
    expect(await next(2)).toEqual([false, null])
    await calledTool(1, { ok: true, paused: true })
    await calledTool(2, { error: 'the call is not recorded' })
    await test.db.updateTable('call_logs').set({ escalated: true }).execute()
    expect(await next(3)).toEqual([true, { target: null }])
    await calledTool(3, { ok: true, paused: false })
    await test.db.updateTable('call_logs').set({ escalation_target: 'billing' }).execute()
    expect(await next(4)).toEqual([false, { target: 'billing' }])
    const answered = { answered_by: 'screening', answered_by_source: 'words' } as const
    await test.db.updateTable('call_logs').set(answered).execute()
    const last = await sessions.started(acme, { ...STREAM, epoch: 5, streamSid: 'MZ5' })
    expect(last?.before?.answered).toEqual(answered)
  })

  it('gives a call to the stream of the next epoch, wherever the one is that has it, and raises the epoch by that', async () => {
    await sessions.started(acme, STREAM)
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    const next = { ...STREAM, streamSid: 'MZ2', epoch: 2 }
    expect(await other.started(acme, { ...next, epoch: 3 })).toBeNull()
    const answers = await Promise.all([
      other.started(acme, next),
      sessions.started(acme, { ...next, streamSid: 'MZ3' }),
    ])
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
    const { entry, session } = await stored()
    expect(entry).toMatchObject({ epoch: 2, owner: answers[0] ? OTHER_NODE : NODE })
    expect(session.resumed_count).toBe(1)
  })

  it('goes on with what was left of the day when the call began, wherever it goes on', async () => {
    const bounded = { ...acme, limits: { ...acme.limits, budget_per_day: 10, minutes_per_day: 60 } }
    const spend = async (callSid: string, usd: number) => {
      await sessions.open(acme, someCall(callSid))
      const facts = { started_at: new Date(clock.now()), cost_usd: usd }
      await test.db.updateTable('voice_sessions').set(facts).where('call_sid', '=', callSid).execute()
    }
    await spend('CA2', 2)
    const first = await sessions.started(bounded, STREAM)
    expect(first?.spentToday).toEqual({ seconds: 0, usd: 2 })
    await spend('CA3', 5)
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    const taken = await other.started(bounded, { ...STREAM, streamSid: 'MZ2', epoch: 2 })
    expect(taken?.spentToday).toEqual({ seconds: 0, usd: 2 })
    // Who has opened the call has asked already.
    await sessions.open(bounded, someCall('CA4', { spentToday: { seconds: 60, usd: 1 } }))
    const known = await sessions.started(bounded, { ...STREAM, callSid: 'CA4', streamSid: 'MZ4' })
    expect(known?.spentToday).toEqual({ seconds: 60, usd: 1 })
  })

  it('may last as long as the agent has it that it began with, wherever and with whomever it goes on', async () => {
    const first = await sessions.started(acme, { ...STREAM, maxCallSeconds: 900 })
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    const taken = await other.started(acme, { ...STREAM, streamSid: 'MZ2', epoch: 2, maxCallSeconds: 60 })
    expect([first?.maxCallSeconds, taken?.maxCallSeconds]).toEqual([900, 900])
    expect((await stored()).session.max_call_seconds).toBe(900)
  })

  it('gives no call of which no stream has begun to the next epoch', async () => {
    expect(await sessions.started(acme, { ...STREAM, epoch: 2 })).toBeNull()
  })

  it('tells who answered as soon as that is found out, and again when it is known better', async () => {
    await sessions.started(acme, STREAM)
    const latency = { greetingMs: null, responseP50Ms: null, responseP95Ms: null, interruptions: 0 }
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const found = async (answered_by: string, answered_by_source: 'words' | 'cadence') => {
      const answered = { answered_by, answered_by_source }
      await sessions.progressed(acme, { callSid: 'CA1', epoch: 1, progress: { latency, usage, answered } })
    }
    await found('human', 'cadence')
    await found('human', 'cadence')
    await found('screening', 'words')
    await found('human', 'cadence')
    expect((await stored()).log).toMatchObject({ answered_by: 'screening', answered_by_source: 'words' })
    const told = (await storedEvents(test.db)).filter(({ event }) => event === 'voice.call.answered')
    expect(told).toMatchObject([
      { call_sid: 'CA1', body: { payload: { call_log: { answered_by: 'human', answered_by_source: 'cadence' } } } },
      { call_sid: 'CA1', body: { payload: { call_log: { answered_by: 'screening', answered_by_source: 'words' } } } },
    ])
  })

  it('keeps what a session has come to, until its stream has lost the call, and never less', async () => {
    await sessions.started(acme, STREAM)
    const latency = { greetingMs: 300, responseP50Ms: 500, responseP95Ms: 900, interruptions: 1 }
    const usage = { inputTokens: 10, outputTokens: 20, cachedTokens: 0, audioSeconds: 5 }
    await sessions.progressed(acme, { callSid: 'CA1', epoch: 1, progress: { latency, usage } })
    const nothing = { greetingMs: null, responseP50Ms: null, responseP95Ms: null, interruptions: 0 }
    const less = { latency: nothing, usage: { ...usage, inputTokens: 3 } }
    await sessions.progressed(acme, { callSid: 'CA1', epoch: 1, progress: less })
    const more = { latency, usage: { ...usage, inputTokens: 99 } }
    await sessions.progressed(acme, { callSid: 'CA1', epoch: 2, progress: more })
    expect((await stored()).session).toMatchObject({
      latency: { greeting_ms: 300, response_p50_ms: 500, interruptions: 1 },
      usage: { input_tokens: 10, output_tokens: 20, audio_seconds: 5 },
    })
    const resumed = await sessions.started(acme, { ...STREAM, streamSid: 'MZ2', epoch: 2 })
    expect(resumed?.before).toMatchObject({ usage: { input_tokens: 10 }, latency: { greeting_ms: 300 } })
  })

  it('keeps it of a session that lets its call go, until another stream has begun', async () => {
    await sessions.started(acme, STREAM)
    const latency = { greetingMs: 300, responseP50Ms: 500, responseP95Ms: 900, interruptions: 1 }
    const used = (inputTokens: number) => {
      const usage = { inputTokens, outputTokens: 20, cachedTokens: 0, audioSeconds: 5 }
      const next = [{ epoch: 2, owner: null }]
      return sessions.progressed(acme, { callSid: 'CA1', epoch: 1, next, progress: { latency, usage } })
    }
    await raiseEpoch()
    await used(10)
    const other = makeSessions({ db: test.db, clock, nodeId: OTHER_NODE })
    const taken = await other.started(acme, { ...STREAM, streamSid: 'MZ2', epoch: 2 })
    expect(taken?.before).toMatchObject({ usage: { input_tokens: 10 } })
    await used(99)
    expect((await stored()).session.usage).toMatchObject({ input_tokens: 10 })
  })

  it('refuses a call that is over, an unknown one and that of another tenant', async () => {
    await makeTenant(test.db, 'globex')
    expect(await sessions.started(tenantTold('globex'), STREAM)).toBeNull()
    expect(await sessions.started(acme, { ...STREAM, callSid: 'CA2' })).toBeNull()
    await test.db.updateTable('call_logs').set({ status: 'canceled' }).execute()
    expect(await sessions.started(acme, STREAM)).toBeNull()
    expect((await stored()).entry.owner).toBeNull()
  })
})

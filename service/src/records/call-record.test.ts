import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import { billingOutcome } from './billing-outcome.ts'
import type { CallLogRow } from './call-log-store.ts'
import {
  type CallRecord,
  type CallReport,
  isComplete,
  type SessionEnd,
  statusReport,
  withProgress,
  withReport,
  withSessionEnd,
  withTrueEnd,
} from './call-record.ts'
import { CALL_STATUSES, type SessionId } from './call-values.ts'
import { showSession } from './voice-session-shape.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

const START_MS = Date.UTC(2030, 0, 1)
const SESSION_ID = '0190a000-0000-7000-8000-000000000001' as SessionId

/** A call that rings. */
function ringing(): CallRecord {
  const both = {
    ...{
      tenant_id: 'acme' as TenantId,
      call_sid: 'CA1',
      stream_sid: null,
      org_id: null,
      direction: 'inbound' as const,
    },
    ...{ from: '+12025550101', to: '+12025550199', agent_key: null, agent_name: null, agent_version_id: null },
    ...{ version_number: null, created_at: at(0), ended_at: null, duration_seconds: null, metadata: {} },
  }
  const log: CallLogRow = {
    ...both,
    ...{ id: SESSION_ID, status: 'ringing', status_at: at(0), voice_session_id: SESSION_ID, started_at: at(0) },
    ...{
      callback_task_id: null,
      campaign_id: null,
      placed_by: null,
      canceled_by: null,
      answered_at: null,
      answered_by: null,
      answered_by_source: null,
      summary: null,
    },
    ...{ escalated: false, escalation_target: null, error_code: null, error_message: null, cost_usd: null },
  }
  const session: VoiceSessionRow = {
    ...both,
    ...{ id: SESSION_ID, call_status: 'ringing', model: null, voice: null, audio_output_provider: 'primary' },
    ...{ started_at: null, end_reason: null, resumed_count: 0, tags: [], outcome: null, outcome_notes: null },
    has_recording: false,
    cost_usd: null,
    day_spent: null,
    max_call_seconds: null,
    greeting: null,
    ...{ qa: null, qa_status: null, qa_reason: null, summary: null },
    ...{ extraction: null, extraction_status: null, extraction_reason: null, completion_held: false },
    latency: { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 },
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 },
  }
  return { log, session }
}

function at(ms: number): Date {
  return new Date(START_MS + ms)
}

function report(facts: Partial<CallReport>): CallReport {
  return {
    status: null,
    at: at(0),
    durationSeconds: null,
    answeredBy: null,
    errorCode: null,
    errorMessage: null,
    ...facts,
  }
}

/** A carrier gives a call one duration and one answer to who took it, in whichever callbacks. */
const reports = fc.array(
  fc
    .record({
      status: fc.constantFrom(null, ...CALL_STATUSES),
      atMs: fc.integer({ min: -2_000, max: 5_000 }),
      durationSeconds: fc.constantFrom(null, 7),
      answeredBy: fc.constantFrom(null, 'human'),
    })
    .map(({ atMs, ...facts }) => report({ ...facts, at: at(atMs) })),
  { maxLength: 8 },
)

function endOf(endReason: SessionEnd['endReason'], ms: number): SessionEnd {
  return {
    endReason,
    at: at(ms),
    latency: { greetingMs: 410.4, responseP50Ms: 700.5, responseP95Ms: null, interruptions: 2 },
    usage: { inputTokens: 10, outputTokens: 20, cachedTokens: 5, audioSeconds: 12.5 },
  }
}

describe('a call of which reports come', () => {
  it('is the same in whatever order and however often they come', () => {
    const holds = (given: CallReport[], seed: number) => {
      const inOrder = given.reduce(withReport, ringing())
      const twice = [...given, ...given].map((each, index) => ({ each, key: (index * 7 + seed) % 11 }))
      const shuffled = twice.sort((a, b) => a.key - b.key).map(({ each }) => each)
      expect(shuffled.reduce(withReport, ringing())).toEqual(inOrder)
    }
    fc.assert(fc.property(reports, fc.nat({ max: 10 }), holds), { numRuns: 2_000 })
  })

  it('does not end before it was answered, though a clock was set back in between', () => {
    const [answered, ended] = [statusReport('in-progress', at(5_000)), statusReport('completed', at(4_000))]
    for (const reports of [
      [answered, ended],
      [ended, answered],
    ]) {
      const { log } = reports.reduce(withReport, ringing())
      expect(log).toMatchObject({ status: 'completed', answered_at: at(5_000), ended_at: at(5_000) })
    }
  })

  it('does not happen before it is known, whatever the clock of its carrier says', () => {
    const { log } = withReport(ringing(), report({ status: 'in-progress', at: at(-900) }))
    expect(log).toMatchObject({ answered_at: at(0), started_at: at(0) })
  })

  it('keeps its session in step', () => {
    expect(withReport(ringing(), report({ status: 'busy', at: at(5) })).session.call_status).toBe('busy')
  })
})

describe('the end of a session', () => {
  it('counts whole seconds from its start and keeps what was measured', () => {
    const { log, session } = ringing()
    const ended = withSessionEnd({ log, session: { ...session, started_at: at(1_000) } }, endOf('agent_hangup', 4_600))
    expect(ended.session).toMatchObject({
      ...{ ended_at: at(4_600), duration_seconds: 4, end_reason: 'agent_hangup' },
      latency: { greeting_ms: 410, response_p50_ms: 701, response_p95_ms: null, interruptions: 2 },
      usage: { input_tokens: 10, output_tokens: 20, cached_tokens: 5, audio_seconds: 12.5 },
    })
  })

  it.each<[CallReport['status'], string]>([
    ['busy', 'The call was not answered.'],
    ['no-answer', 'The call was not answered.'],
    ['in-progress', 'The call was answered, but no conversation with the agent began in it.'],
    ['completed', 'The call was answered, but no conversation with the agent began in it.'],
  ])('has no score where it never began, and says why: its carrier told of it as %s', (status, reason) => {
    const ended = withSessionEnd(withReport(ringing(), report({ status })), endOf('rejected', 10))
    expect(ended.session).toMatchObject({ qa_status: 'not_scored', qa_reason: reason })
  })

  it('keeps who spoke by then, and without that who was to', () => {
    const { log, session } = ringing()
    const begun = { log, session: { ...session, model: 'realtime-1', audio_output_provider: 'secondary' as const } }
    const spoken = { model: 'realtime-mini', voice: null, audioOutput: 'primary' as const }
    expect(withSessionEnd(begun, { ...endOf('caller_hangup', 10), spoken }).session).toMatchObject({
      ...{ model: 'realtime-mini', voice: null, audio_output_provider: 'primary' },
    })
    expect(withSessionEnd(begun, endOf('caller_hangup', 10)).session).toMatchObject({
      ...{ model: 'realtime-1', audio_output_provider: 'secondary' },
    })
  })

  it('keeps the answer times that were stored where it has none of its own', () => {
    const end = endOf('caller_hangup', 10)
    const told = (responseTimes: string | null) => ({ ...end, latency: { ...end.latency, responseTimes } })
    const { log, session } = ringing()
    const known = { log, session: { ...session, latency: { ...session.latency, response_times: '1e200' } } }
    expect(withSessionEnd(known, told(null)).session.latency.response_times).toBe('1e200')
    expect(withSessionEnd(known, told('2e210')).session.latency.response_times).toBe('2e210')
    expect(withSessionEnd(ringing(), told(null)).session.latency).not.toHaveProperty('response_times')
  })

  it('names the agent to whom the call was handed, in the log as well', () => {
    const versionId = '0190a000-0000-7000-8000-000000000002' as AgentVersionId
    const handedTo = { agentKey: 'billing', agentName: 'Billie', versionId, versionNumber: 2, wantsExtraction: true }
    const named = { agent_key: 'billing', agent_name: 'Billie', agent_version_id: versionId, version_number: 2 }
    const told = { ...endOf('process_lost', 10), handedTo }
    const lost = withSessionEnd(ringing(), endOf('process_lost', 10))
    for (const { log, session } of [
      withProgress(ringing(), told),
      withSessionEnd(ringing(), told),
      withTrueEnd(lost, { ...told, endReason: 'caller_hangup' }),
    ]) {
      expect(log).toMatchObject(named)
      expect(session).toMatchObject(named)
    }
    const ended = withSessionEnd(withProgress(ringing(), told), endOf('caller_hangup', 10))
    expect(ended.log).toMatchObject(named)
    expect(ended.session).toMatchObject({ extraction_status: 'pending', completion_held: true })
  })

  it('has what the model cost, which the log shows too, and which is never less than was stored', () => {
    const { log, session } = ringing()
    const end = endOf('agent_hangup', 4_600)
    const costing = (costUsd: number | null | undefined, before: number | null) => {
      const record = { log, session: { ...session, cost_usd: before } }
      const ended = withSessionEnd(record, costUsd === undefined ? end : { ...end, costUsd })
      return [ended.session.cost_usd, ended.log.cost_usd]
    }
    expect(costing(0.123_456_7, null)).toEqual([0.123_457, 0.123_457])
    expect(costing(0.1, 0.3)).toEqual([0.3, 0.3])
    expect(costing(undefined, 0.3)).toEqual([0.3, 0.3])
    expect(costing(null, 0.3)).toEqual([null, null])
    const lost = withSessionEnd({ log, session }, endOf('process_lost', 5))
    expect(withTrueEnd(lost, { ...end, costUsd: 0.2 }).log.cost_usd).toBe(0.2)
  })

  it('has a bill that is estimated once a part of what was used is missing, whoever ends it', () => {
    const carrierSaid = { status: 'completed' as const, durationSeconds: 10, at: at(10_000) }
    const ringingUntil = withReport(ringing(), report(carrierSaid))
    const billed = (isPartial: boolean) => {
      const handedOver = withProgress(ringingUntil, { ...endOf('caller_hangup', 5), isPartial })
      const ended = withSessionEnd(handedOver, endOf('caller_hangup', 10))
      expect(showSession(ended.session).usage).not.toHaveProperty('is_partial')
      return billingOutcome(ended, at(10_000))
    }
    expect(billed(true)).toEqual({ ...billed(false), estimated: true })
    expect(billed(false).estimated).toBe(false)
  })

  it('is the first that was told', () => {
    const once = withSessionEnd(ringing(), endOf('caller_hangup', 10))
    expect(withSessionEnd(once, endOf('process_lost', 5))).toEqual(once)
  })

  it('says in the log that the stream was lost for good, unless something else stands there', () => {
    const lost = { error_code: 'stream_lost', error_message: expect.stringMatching(/lost for good/) }
    expect(withSessionEnd(ringing(), endOf('carrier_lost', 10)).log).toMatchObject(lost)
    expect(withSessionEnd(ringing(), endOf('caller_hangup', 10)).log).toMatchObject({ error_code: null })
    const told = withReport(ringing(), report({ errorCode: '31921', errorMessage: 'Closed' }))
    expect(withSessionEnd(told, endOf('carrier_lost', 10)).log).toEqual(told.log)
    const guessed = withSessionEnd(ringing(), endOf('process_lost', 5))
    expect(withTrueEnd(guessed, endOf('carrier_lost', 10)).log).toMatchObject(lost)
  })

  it('has whole ms of audio, whatever the sums have made of them', () => {
    const end = endOf('caller_hangup', 10)
    const usage = { ...end.usage, audioSeconds: 7.5600000000000005 }
    expect(withSessionEnd(ringing(), { ...end, usage }).session.usage.audio_seconds).toBe(7.56)
  })

  it('took no time when no stream ever began', () => {
    expect(withSessionEnd(ringing(), endOf('caller_hangup', 9_000)).session.duration_seconds).toBe(0)
  })

  it('completes the call only together with the end of that', () => {
    const ended = withSessionEnd(ringing(), endOf('transferred', 10))
    expect(isComplete(ended)).toBe(false)
    expect(isComplete(withReport(ringing(), report({ status: 'completed' })))).toBe(false)
    expect(isComplete(withReport(ended, report({ status: 'completed' })))).toBe(true)
  })
})

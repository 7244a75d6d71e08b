import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { countTimes, packTimes } from '../records/analytics/response-times.ts'
import type { SessionId } from '../records/call-values.ts'
import type { EarlierStream } from '../records/sessions.ts'
import type { TurnRow } from '../records/transcript-store.ts'
import { resumptionOf } from '../voice/held-stream.ts'
import { newSession, type SessionState } from '../voice/session/state.ts'
import type { EndedCall } from '../voice/session-builder.ts'
import { endingOf, progressOf } from './call-ended.ts'

const AT = new Date('2030-01-01T00:00:00Z')

const CLOCK = { now: () => AT.getTime(), monotonicMs: () => 5_000 }

type Facts = {
  direction?: string
  fallbackNumber?: string | null
  carrierGoneAtMs?: number | null
  plan?: Partial<SessionState['plan']>
  isFallback?: boolean
  isSecondLost?: boolean
  isUntold?: boolean
}

function ended(reason: EndedCall['reason'], facts: Facts = {}) {
  const { direction = 'inbound', fallbackNumber = null, carrierGoneAtMs = null } = facts
  const plan = { fallbackNumber, ...facts.plan } as SessionState['plan']
  const begun = newSession(plan, 0)
  const state = {
    ...begun,
    model: { ...begun.model, isFallback: facts.isFallback ?? false },
    secondVoice: { ...begun.secondVoice, isOn: begun.secondVoice.isOn && !facts.isSecondLost },
  }
  const latency = { ...state.latency, greetingMs: 700, responsesMs: [900, 300, 500, 400], interruptions: 2 }
  const { isUntold = false } = facts
  const ending = { reason, hangUp: false, hungUp: true, isGuessed: false, isUntold }
  const call = { tenant: { tenant_id: 'acme' }, callSid: 'CA1', epoch: 3, direction } as EndedCall['call']
  return endingOf({ call, reason, state: { ...state, latency, ending, carrierGoneAtMs } }, CLOCK)
}

const PLAN = { fallbackNumber: null } as SessionState['plan']
const BEFORE = {
  ...{ startedAt: AT, streamSid: 'MZ1', turns: [], toolCalls: [], isRecordingPaused: false, escalation: null },
  answered: { answered_by: null, answered_by_source: null },
  latency: { greeting_ms: 700, response_p50_ms: 1_000, response_p95_ms: 2_000, interruptions: 0 },
  ...{ usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 }, costUsd: 0 },
}

/** Whether a session that goes on says that a part of what was used is missing. */
function partial(facts: Partial<EarlierStream>): boolean {
  const before = { ...BEFORE, ...facts }
  return progressOf({ before }, newSession(PLAN, 0, { resumption: resumptionOf(before, 2, AT) })).isPartial ?? false
}

/** A session that goes on, with these answers of its own. */
function endedFrom(state: SessionState, responsesMs: number[]) {
  const call = { tenant: { tenant_id: 'acme' }, callSid: 'CA1', epoch: 2, direction: 'inbound' } as EndedCall['call']
  const latency = { ...state.latency, responsesMs }
  return endingOf({ call, reason: 'caller_hangup', state: { ...state, latency } }, CLOCK)
}

/** A turn as it was stored. */
function said(role: 'agent' | 'caller', startMs: number, facts: Partial<TurnRow> = {}): TurnRow {
  return {
    ...{ tenant_id: 'acme' as TenantId, session_id: 's' as SessionId, item_id: `${startMs}`, seq: startMs, role },
    ...{ text: 'Words.', unheard: '', start_ms: startMs, end_ms: startMs + 500, interrupted: false },
    ...{ sent_ms: null, heard_ms: null, cost_usd: null, timeline: null, agent_name: null, ...facts },
  }
}

function answer(committed_ms: number, first_sent_ms: number): TurnRow['timeline'] {
  return {
    ...{ speech_end_ms: committed_ms, committed_ms, asked_ms: committed_ms, first_byte_ms: first_sent_ms },
    ...{ first_sent_ms, heard_ms: first_sent_ms, tools: [] },
  }
}

describe('what is written down of an ended call', () => {
  it('is why it ended, and how quickly the agent spoke', () => {
    expect(ended('caller_hangup')).toMatchObject({
      ...{ tenantId: 'acme', callSid: 'CA1', epoch: 3 },
      session: {
        endReason: 'caller_hangup',
        at: AT,
        latency: { greetingMs: 700, responseP50Ms: 400, responseP95Ms: 900 },
      },
      call: { status: 'completed', at: AT },
    })
  })

  it('has every answer time, to be counted over many calls', () => {
    const { latency } = ended('caller_hangup').session
    expect(latency.responseTimes).toBe(packTimes(countTimes([900, 300, 500, 400])))
  })

  it('has the answer times of the whole call where it went on from an earlier session', () => {
    const earlier = {
      ...BEFORE,
      latency: { ...BEFORE.latency, response_times: packTimes(countTimes([1_000, 2_000])) ?? '' },
    }
    const went = (responsesMs: number[]) =>
      endedFrom(newSession(PLAN, 0, { resumption: resumptionOf(earlier, 2, AT) }), responsesMs)
    const { latency } = went([300, 2_000]).session
    expect(latency.responseTimes).toBe(packTimes(countTimes([300, 1_000, 2_000, 2_000])))
    // Read from a histogram, which is a little off.
    expect(Math.abs((latency.responseP50Ms ?? 0) - 1_000)).toBeLessThan(50)
    expect(Math.abs((latency.responseP95Ms ?? 0) - 2_000)).toBeLessThan(100)
    // What is stored of the earlier ones stands then.
    expect(went([]).session.latency).toMatchObject({ responseTimes: null, responseP50Ms: null, responseP95Ms: null })
  })

  it('has the latencies of a session whose process was killed, by its turns, which are all that was stored of it', () => {
    const turns = [
      said('agent', 420),
      said('caller', 2_000),
      said('agent', 3_000, { timeline: answer(2_600, 3_000), interrupted: true }),
      said('caller', 4_000),
      said('agent', 5_500, { timeline: answer(4_600, 5_400) }),
    ]
    const nothing = { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 }
    const resumed = (latency: EarlierStream['latency']) =>
      newSession(PLAN, 0, { resumption: resumptionOf({ ...BEFORE, turns, latency }, 2, AT) })
    const state = resumed(nothing)
    const { latency } = endedFrom(state, [...state.latency.responsesMs]).session
    expect(latency).toMatchObject({ greetingMs: 420, responseP50Ms: 400, responseP95Ms: 800, interruptions: 1 })
    expect(latency.responseTimes).toBe(packTimes(countTimes([400, 800])))
    expect(partial({ turns, latency: nothing })).toBe(true)
    // What was stored of as many stands.
    const stored = { ...BEFORE.latency, response_times: packTimes(countTimes([1_000, 2_000])) ?? '' }
    expect(resumed(stored).latency).toMatchObject({
      greetingMs: 700,
      responsesMs: [],
      earlierTimes: stored.response_times,
    })
    expect(partial({ turns, latency: stored })).toBe(false)
    const greeted = [said('agent', 420, { cost_usd: 0.01 })]
    expect([partial({ turns: greeted, costUsd: null }), partial({ turns: greeted, costUsd: 0.01 })]).toEqual([
      true,
      false,
    ])
  })

  it('counts no interruption where its earlier session stored none, and was cut in a sentence, as by a hand-over', () => {
    const turns = [
      said('agent', 420, { interrupted: true }),
      said('caller', 2_000),
      said('agent', 3_000, { timeline: answer(2_600, 3_000), interrupted: true }),
    ]
    const stored = (interruptions: number) => {
      const latency = { ...BEFORE.latency, response_times: packTimes(countTimes([400])) ?? '', interruptions }
      const state = newSession(PLAN, 0, { resumption: resumptionOf({ ...BEFORE, turns, latency }, 2, AT) })
      return endedFrom(state, []).session.latency.interruptions
    }
    expect([stored(0), stored(1)]).toEqual([0, 1])
  })

  it('leaves it to the carrier to tell the end of a call that goes on at another number', () => {
    expect(ended('model_lost', { fallbackNumber: '+12025550150' })).toMatchObject({ call: null, isAtFallback: true })
    expect(ended('model_lost')).toMatchObject({ call: { status: 'completed' }, isAtFallback: false })
    expect(ended('model_lost', { fallbackNumber: '+12025550150', direction: 'browser' }).call).not.toBeNull()
  })

  it('leaves a call open that its carrier was asked to end, and has not said to be over; a page has no carrier', () => {
    expect(ended('supervisor', { isUntold: true }).call).toBeNull()
    expect(ended('supervisor', { isUntold: true, direction: 'browser' }).call).toMatchObject({ status: 'completed' })
  })

  it('is who spoke in the end: the model that took the place of the first, in the voice that was heard', () => {
    const speaker = { model: 'realtime-2', voice: 'marin' }
    const plan = { speaker, fallback: { price: null, model: 'realtime-mini' }, secondVoice: true }
    const spoken = (facts: Facts) => ended('caller_hangup', { plan, ...facts }).session.spoken
    expect(spoken({})).toEqual({ ...speaker, audioOutput: 'secondary' })
    expect(spoken({ isFallback: true })).toEqual({ ...speaker, model: 'realtime-mini', audioOutput: 'secondary' })
    expect(spoken({ isSecondLost: true })).toEqual({ ...speaker, audioOutput: 'primary' })
    expect(ended('caller_hangup').session).not.toHaveProperty('spoken')
  })

  it('is dated by when the carrier was gone, not by when the last transcript had come', () => {
    const at = new Date(AT.getTime() - 1_750)
    expect(ended('caller_hangup', { carrierGoneAtMs: 3_250 })).toMatchObject({ session: { at }, call: { at } })
  })
})

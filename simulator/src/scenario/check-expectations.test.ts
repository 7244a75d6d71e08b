import { describe, expect, it } from 'vitest'
import type { CallMeasures } from '../carrier/measure.ts'
import { newRecord } from '../model/session-record.ts'
import type { CallFacts } from './call-facts.ts'
import { checkExpectations } from './check-expectations.ts'
import type { Expectations } from './scenario-shape.ts'

const MEASURES: CallMeasures = {
  durationMs: 10_000,
  firstWordMs: 400,
  replyGapsMs: [700, 900],
  longestSilenceMs: 1_200,
  callerVoicedShare: 0.3,
  agentVoicedShare: 0.4,
  clears: 1,
  seams: 4,
  repeats: 0,
  clicks: 0,
}
const FACTS: CallFacts = {
  sid: 'CA1',
  from: '+1',
  to: '+2',
  end: { status: 'completed', by: 'rest' },
  measures: MEASURES,
  conversation: [],
  heard: 'Hello there. How are you? Well, goodbye!',
  understood: 'Fine, thanks.',
  tools: [{ name: 'end_call', arguments: '{"reason":"done"}', output: null }],
  sessions: [],
  notifications: [],
}

function failures(expected: Expectations, facts: Partial<CallFacts> = {}): string[] {
  const findings = checkExpectations({ ...FACTS, ...facts }, expected)
  return findings.filter(({ state }) => state === 'failed').map(({ what, detail }) => `${what}: ${detail}`)
}

describe('expectations', () => {
  it('hold when all is as expected', () => {
    const expected: Expectations = {
      status: 'completed',
      ended_by: 'rest',
      heard: ['hello', 'How are you', 'goodbye'],
      not_heard: ['hell'],
      understood: ['fine'],
      first_word_ms: { max: 400 },
      reply_gap_ms: { min: 900, max: 900 },
      longest_silence_ms: 1_200,
      agent_voiced_share: { min: 0.4 },
      clears: 1,
      model_sessions: 0,
      tools: [{ name: 'end_call', arguments: { reason: 'done' } }],
    }
    expect(failures(expected)).toEqual([])
  })

  it.each<[Expectations, string]>([
    [{ status: 'busy' }, 'status: completed, expected busy'],
    [{ ended_by: 'caller' }, 'ended_by: rest, expected caller'],
    [
      { heard: ['goodbye', 'hello'] },
      'heard: no "hello" in "Hello there. How are you? Well, goodbye!" where it should be',
    ],
    [
      { heard: ['hello', 'hello'] },
      'heard: no "hello" in "Hello there. How are you? Well, goodbye!" where it should be',
    ],
    [{ not_heard: ['how are you'] }, 'not_heard: "how are you" was heard'],
    [{ reply_gap_ms: { max: 800 } }, 'reply_gap_ms: 900, expected at most 800'],
    [{ clears: 0 }, 'clears: 1, expected 0'],
    [{ clears: { min: 2, max: 3 } }, 'clears: 1, expected 2 to 3'],
    [{ tools: [] }, 'tools: end_call, expected none'],
    [{ tools: [{ name: 'other' }] }, 'tools: call 1: end_call, expected other'],
    [{ tools: [{ name: 'end_call', arguments: { reason: 'x' } }] }, 'tools: call 1: reason is "done", expected "x"'],
    [{ tools: [{ name: 'end_call', output: 'ok' }] }, 'tools: call 1: its output is missing, expected one with ok'],
  ])('%j fails', (expected, failure) => {
    expect(failures(expected)).toEqual([failure])
  })

  it('never pass over an error that nobody expected', () => {
    const record = newRecord('sess_1', 'm')
    record.errors.push({
      type: 'invalid_request_error',
      code: 'unknown_parameter',
      message: '',
      param: null,
      event_id: null,
    })
    record.problems.push('not among the tools of this session: x')
    const facts = { sessions: [record], notifications: [{ code: 31950, message: '' }] }
    expect(failures({}, facts)).toEqual([
      'model_errors: unexpected: unknown_parameter',
      'notifications: unexpected: 31950',
      'script: unexpected: not among the tools of this session: x',
    ])
    expect(failures({ model_errors: ['unknown_parameter'], notifications: [31_950] }, facts)).toHaveLength(1)
  })

  it('fail when there is nothing to measure', () => {
    expect(failures({ first_word_ms: { max: 1 } }, { measures: null })).toEqual([
      'first_word_ms: nothing to measure, expected at most 1',
    ])
  })
})

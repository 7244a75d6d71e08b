import { describe, expect, it } from 'vitest'
import type { CallMeasures } from '../../simulator/src/carrier/measure.ts'
import { parseScenario } from '../../simulator/src/scenario/read-scenario.ts'
import type { ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import { checkAudio, checkCall } from './checks.ts'
import type { StoredCall } from './stored-call.ts'

const SCENARIO = parseScenario(
  "{ name: Two, caller: { steps: [{ say: 'Hello, you!' }, { press: '1' }, { say: Bye. }] } }",
  'test',
)
const GOOD: CallMeasures = {
  ...{ durationMs: 30_000, firstWordMs: 500, replyGapsMs: [900, 2_500], longestSilenceMs: 2_500 },
  ...{ callerVoicedShare: 0.31, agentVoicedShare: 0.31, clears: 1, seams: 9, clicks: 0, repeats: 0 },
}
const CALLER_TURNS = ['hello you', 'Bye']
const TOOL = { name: 'schedule_callback', status: 'ok', arguments: {} }
const END = { name: 'end_call', status: 'ok', arguments: {} }

type Changes = {
  measures?: Partial<CallMeasures> | null
  turns?: string[]
  tools?: (typeof TOOL)[]
  status?: string
  endReason?: string
  findings?: ScenarioReport['findings']
}

/** What is not as it should be in a call that differs from a good one by these. */
function faultsIn({ measures = {}, turns = CALLER_TURNS, tools = [TOOL, END], ...rest }: Changes): string[] {
  const { status = 'completed', endReason = 'agent_hangup', findings = [] } = rest
  const facts = { measures: measures && { ...GOOD, ...measures }, end: { status: 'no-answer', by: 'not-answered' } }
  // What the checks do not look at is left out.
  const report = { findings, facts } as unknown as ScenarioReport
  const transcript = [{ role: 'agent', text: 'Hi.', interrupted: false }]
  transcript.push(...turns.map((text) => ({ role: 'caller', text, interrupted: false })))
  const session = { transcript, function_calls: tools, end_reason: endReason }
  const stored = { log: { status }, session } as unknown as StoredCall
  return checkCall(SCENARIO, report, stored).flatMap(({ what, ok }) => (ok ? [] : [what]))
}

describe('the checks of the demo call', () => {
  it('find nothing in a good call', () => {
    expect(faultsIn({})).toEqual([])
  })

  it.each<[string, Changes]>([
    ["the caller's channel is voiced over 30 %", { measures: { callerVoicedShare: 0.3 } }],
    ["the agent's channel is voiced over 30 %", { measures: { agentVoicedShare: 0.3 } }],
    ['one interruption cleared the line', { measures: { clears: 0 } }],
    ['one interruption cleared the line', { measures: { clears: 2 } }],
    ['no gap over 2500 ms', { measures: { replyGapsMs: [2_520] } }],
    ['no gap over 2500 ms', { measures: { longestSilenceMs: 2_520 } }],
    ['no click where audio was joined', { measures: { clicks: 1 } }],
    ['nothing heard twice in a row', { measures: { repeats: 1 } }],
    ['one tool row stored', { tools: [END] }],
    ['one tool row stored', { tools: [TOOL, TOOL] }],
    ['one tool row stored', { tools: [{ ...TOOL, status: 'error' }] }],
    ["the caller's turns are stored as said", { turns: ['hello you'] }],
    ["the caller's turns are stored as said", { turns: ['Bye', 'hello you'] }],
    ["the caller's turns are stored as said", { turns: [...CALLER_TURNS, 'And?'] }],
    ['the call log is complete', { status: 'in-progress' }],
    ['the agent ended the call', { endReason: 'carrier_lost' }],
    ['the call was answered', { measures: null }],
    ['heard', { findings: [{ what: 'heard', state: 'failed', detail: 'no "Hi"' }] }],
  ])('find that it is not so: %s (%j)', (what, changes) => {
    expect(faultsIn(changes)).toEqual([what])
  })

  it('of the audio alone look at nothing else', () => {
    const report = { findings: [], facts: { measures: { ...GOOD, repeats: 1 } } } as unknown as ScenarioReport
    expect(checkAudio(report).flatMap(({ what, ok }) => (ok ? [] : [what]))).toEqual(['nothing heard twice in a row'])
  })
})

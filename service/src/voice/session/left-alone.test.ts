import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Call, planWith } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'

type Happening = (call: Call, id: string) => void

const TOOLS = ['look_up', 'beside', 'end_call']
/** Idle prompts, a transfer that rings, an apology: all of it is over by then, one behind the other. */
const LONGEST_MS = 600_000

const happens =
  (event: SessionEvent): Happening =>
  (call) =>
    void call.do(event)
const activeOf = (call: Call) => call.state.answers.active?.responseId

/** What a model, a caller, a carrier, tools and people may do, in any order. */
const HAPPENINGS: readonly Happening[] = [
  (call) => call.model({ type: 'ready' }),
  (call) => call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' }),
  (call) => call.model({ type: 'closed', code: '401', message: '', fault: 'fatal' }),
  (call, id) => call.begins(`resp_${id}`),
  (call, id) => call.audio(activeOf(call) ?? 'resp_late', `item_${id}`, 1_500),
  (call) => call.ends(activeOf(call) ?? 'resp_late'),
  (call) => call.ends(activeOf(call) ?? 'resp_late', { status: 'failed', errorCode: 'rate_limit_exceeded' }),
  ...TOOLS.map(
    (name): Happening =>
      (call, id) => {
        const responseId = activeOf(call) ?? 'resp_late'
        call.model({ type: 'tool_call', responseId, itemId: `i_${id}`, callId: id, name, argumentsText: '{}' })
      },
  ),
  (call) => toolsEnd(call),
  (call, id) => call.says(id, 600),
  (call, id) => call.says(id, 600, null),
  (call, id) => call.says(id, 100, ''),
  (call, id) => call.speaks(id, 400),
  (call) => call.echoAll(),
  ...[
    { type: 'dtmf' as const, digit: '1' },
    { type: 'stream_lost' as const },
    { type: 'stream_promised' as const },
    { type: 'attached' as const },
    { type: 'hand_over' as const },
    { type: 'kept' as const },
    { type: 'mute' as const },
    { type: 'unmute' as const },
    { type: 'take_over' as const },
    { type: 'release' as const },
    { type: 'person_lost' as const },
    { type: 'say' as const, text: 'One moment.' },
    { type: 'press' as const, keys: '12' },
    { type: 'transfer' as const, id: 't1', target: '+12025550103', isWarm: true, isAgents: true },
    { type: 'transfer' as const, id: 't2', target: '+12025550103', isWarm: false, isAgents: false },
    { type: 'transfer_ringing' as const },
    { type: 'transfer_sent' as const },
    { type: 'transfer_failed' as const, why: 'busy' as const },
    { type: 'machine' as const, kind: 'machine_start' },
    { type: 'party_said' as const, kind: 'voicemail' as const },
    { type: 'hand_off' as const, plan: planWith({ asyncTools: ['beside'] }), agentName: 'Other', summary: '' },
  ].map(happens),
]

function toolsEnd(call: Call): void {
  for (const { callId, name } of [...call.state.runningTools, ...call.state.asyncTools]) {
    const outcome = { callId, output: '{}', status: 'ok' as const, endsCall: name === 'end_call' }
    call.do({ type: 'tool_finished', outcome })
  }
}

const calls = fc.record({
  happenings: fc.array(fc.tuple(fc.nat(HAPPENINGS.length - 1), fc.nat(2_500)), { minLength: 1, maxLength: 60 }),
  voicemail: fc.constantFrom(null, 'Please call back.'),
  readsParty: fc.boolean(),
  isFallback: fc.boolean(),
})

describe('A call that everybody leaves alone', () => {
  it('comes to its end by itself, whatever was going on: it never waits in silence for what does not come', () => {
    fc.assert(
      fc.property(calls, ({ happenings, isFallback, ...plan }) => {
        const fallback = isFallback ? { price: null } : null
        const call = new Call({ ...plan, fallback, asyncTools: ['beside'], maxCallMs: 86_400_000 })
        for (const [index, [which, afterMs]] of happenings.entries()) {
          HAPPENINGS[which]?.(call, `n${index}`)
          call.wait(afterMs)
        }
        // Who has the call, or has silenced the agent, may do so for as long as they like; a tool may not.
        toolsEnd(call)
        call.do({ type: 'release' })
        call.do({ type: 'unmute' })
        call.wait(LONGEST_MS)
        expect([call.state.phase, call.timers]).toEqual(['ended', []])
      }),
      { numRuns: 1_000 },
    )
  })
})

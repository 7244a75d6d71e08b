import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'
import type { Plan } from './plan.ts'

const WANTED: SessionEvent = { type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: true }
/** Of an agent that does not go on after a noise. */
const STAYS_STOPPED = { interruption: { ...INTERRUPTION, resumeFalseMs: 0 } }

/** The model calls a tool in an answer. */
function calls(call: Call, name = 'transfer_call', responseId = 'resp_1'): void {
  const tool = { type: 'tool_call', responseId, itemId: `i_${name}`, callId: name, name } as const
  call.model({ ...tool, argumentsText: '{}' })
}

/** What the caller said is written down, a while after it was. */
function written(call: Call, text: string, itemId = 'turn_2'): void {
  call.model({ type: 'caller_transcript', itemId, text })
}

/** How often the carrier was asked to put the call through, and how often that was called off. */
function became(call: Call): { begun: number; calledOff: number } {
  return { begun: call.all('begin_transfer').length, calledOff: call.all('cancel_transfer').length }
}

const WAITS = { begun: 0, calledOff: 0 }
const CALLED_OFF = { begun: 0, calledOff: 1 }

describe('a caller who speaks already when the agent calls its tool', () => {
  /** The agent is about to put the call through, and has said nothing yet, or some of it. */
  function speaking(saidMs: number, changes: Partial<Plan> = {}): Call {
    const call = Call.greeted(changes)
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I put you through.')
    if (saidMs > 0) call.audio('resp_1', 'item_1', saidMs)
    call.wait(100)
    call.speaks('turn_2', 400)
    calls(call)
    call.do(WANTED)
    return call
  }

  it.each<[string, number, Partial<Plan>]>([
    ['who has heard none of its words', 0, {}],
    ['whose agent does not go on after a noise', 3_000, STAYS_STOPPED],
  ])('(%s) is heard out, and is not put through over words', (_who, saidMs, changes) => {
    const call = speaking(saidMs, changes)
    call.sounds(1_000)
    call.stops('turn_2')
    expect(became(call)).toEqual(WAITS)
    written(call, 'No wait.')
    call.wait(10_000)
    expect(became(call)).toEqual(CALLED_OFF)
  })

  it('is put through behind a noise, and whatever they say where nothing stops the agent', () => {
    const noise = speaking(0)
    noise.stops('turn_2')
    written(noise, '')
    noise.ends('resp_1', { status: 'cancelled' })
    expect(became(noise).begun).toBe(1)
    const unstoppable = speaking(500, { interruption: { ...INTERRUPTION, enabled: false } })
    unstoppable.ends('resp_1')
    unstoppable.wait(500)
    unstoppable.echoAll()
    expect(became(unstoppable).begun).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

/** The newest turn of the agent's. */
function timelineOf(call: Call) {
  return call.turns.filter(({ role }) => role === 'agent').at(-1)?.timeline
}

/**
 * A turn that ends at 2,000 ms and is known to 500 ms later; the greeting has taken 1,000. `missingMs` of the audio before it were not
 * sent to the model.
 */
function asks(call: Call, itemId = 'turn_1', missingMs = 0): void {
  call.wait(500)
  call.model({ type: 'speech_started', itemId, audioStartMs: call.nowMs - missingMs - 300 })
  call.sounds(500)
  call.isQuiet(500)
  const atMs = call.nowMs - missingMs
  call.stops(itemId, { fromMs: atMs - 1_000, untilMs: atMs - 500 })
}

/** An answer begins whose first half a second came 2 ms ago, and is echoed once it has played and the way was gone. */
function answers(call: Call, id: string, wayMs = 0): void {
  call.begins(`resp_${id}`)
  call.words(`resp_${id}`, `item_${id}`, 'Here you are.')
  const arrivedAtMs = call.nowMs
  call.wait(2)
  call.do({ type: 'sent', responseId: `resp_${id}`, itemId: `item_${id}`, ms: 500, mark: `first_${id}`, arrivedAtMs })
  call.wait(500 + wayMs)
  call.do({ type: 'mark', name: `first_${id}` })
  call.model({ type: 'audio_done', responseId: `resp_${id}`, itemId: `item_${id}` })
  call.ends(`resp_${id}`)
  call.echoAll()
}

describe('The timeline of a turn', () => {
  it('goes from the last sound of the caller to the hearing of the answer', () => {
    const call = Call.greeted()
    asks(call)
    call.wait(300)
    answers(call, '1', 80)
    call.wait(10_000)
    expect(timelineOf(call)).toEqual({
      ...{ speechEndMs: 2_000, committedMs: 2_500, askedMs: 2_500, firstByteMs: 2_800, firstSentMs: 2_802 },
      // The carrier has echoed the greeting at once: the way there and back is taken to be none, and play-out to stand still.
      ...{ heardMs: 2_882, tools: [] },
    })
    expect(call.notes('timeline')).toMatchObject([
      { itemId: 'item_1', timeline: { speechEndMs: 2_000, heardMs: 2_882 } },
    ])
  })

  it('begins with that sound, give or take, also behind a gap in the audio, or silence that was put into it', () => {
    for (const missingMs of [1_100, -1_100]) {
      const call = Call.greeted()
      asks(call, 'turn_1', missingMs)
      answers(call, '1')
      expect(Math.abs((timelineOf(call)?.speechEndMs ?? 0) - 2_000)).toBeLessThanOrEqual(300)
    }
  })

  it('takes half of the way there and back for the one to the caller', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.answer('resp_greeting', 'item_greeting', 1_000)
    call.wait(1_080)
    call.echoAll()
    asks(call)
    call.wait(300)
    answers(call, '1', 80)
    const timeline = call.notes('timeline')[0]?.timeline
    expect((timeline?.heardMs ?? 0) - (timeline?.firstSentMs ?? 0)).toBe(40)
  })

  it('holds the tools that were waited for, and the first request', () => {
    const call = Call.greeted()
    asks(call)
    call.begins('resp_tool')
    call.wait(100)
    const tool = { type: 'tool_call', responseId: 'resp_tool', itemId: 'item_tool', callId: 'call_1' } as const
    call.model({ ...tool, name: 'find_slot', argumentsText: '{}' })
    call.ends('resp_tool')
    call.wait(700)
    call.do({ type: 'tool_finished', outcome: { callId: 'call_1', output: '{}', status: 'ok', endsCall: false } })
    call.wait(300)
    answers(call, '1')
    call.wait(10_000)
    expect(timelineOf(call)).toMatchObject({
      ...{ committedMs: 2_500, askedMs: 2_500, firstByteMs: 3_600 },
      tools: [{ callId: 'call_1', name: 'find_slot', startMs: 2_600, endMs: 3_300 }],
    })
  })

  it('begins with what the caller said last before it was answered', () => {
    const call = Call.greeted()
    asks(call)
    asks(call, 'turn_2')
    call.begins('resp_0')
    call.ends('resp_0', { status: 'cancelled' })
    answers(call, '1')
    expect(call.notes('timeline')).toMatchObject([{ timeline: { speechEndMs: 3_500, committedMs: 4_000 } }])
  })

  it('is by the clock where the answer is cut short before any echo', () => {
    const call = Call.greeted()
    asks(call)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'Here you are.')
    call.audio('resp_1', 'item_1', 2_000)
    call.speaks('turn_2', 400)
    expect(call.notes('timeline')).toMatchObject([{ timeline: { firstSentMs: 2_500, heardMs: 2_500 } }])
    expect(timelineOf(call)).toMatchObject({ heardMs: 2_500 })
  })

  it('is not of a greeting before which the caller has pressed a key: that is answered behind it', () => {
    const call = new Call({ dtmf: { maxDigits: 1, endKey: '#', timeoutMs: 3_000 } })
    call.model({ type: 'ready' })
    call.do({ type: 'dtmf', digit: '1' })
    answers(call, 'greeting')
    call.ends('resp_greeting')
    expect([call.notes('timeline'), call.state.latency.greetingMs]).toEqual([[], 2])
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is not of such a greeting behind a clip either', () => {
    const disclosure = { text: 'You are talking to a machine.', ms: 2_000, kind: 'disclosure' } as const
    const call = new Call({ clips: [disclosure], dtmf: { maxDigits: 1, endKey: '#', timeoutMs: 3_000 } })
    call.wait(500)
    call.model({ type: 'ready' })
    call.do({ type: 'dtmf', digit: '1' })
    call.wait(2_000)
    answers(call, 'greeting')
    expect([call.notes('timeline'), call.notes('latency'), call.state.latency.responsesMs]).toEqual([[], [], []])
  })

  it('is not of a greeting, nor of what the agent says unasked', () => {
    const call = Call.greeted({ idle: { afterMs: 5_000, prompts: ['Are you there?'], goodbye: '' } })
    call.wait(6_000)
    answers(call, 'idle')
    expect(call.notes('timeline')).toEqual([])
    expect(call.turns.some(({ timeline }) => timeline !== undefined)).toBe(false)
  })
})

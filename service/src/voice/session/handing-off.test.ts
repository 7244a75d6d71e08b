import { describe, expect, it } from 'vitest'
import { Call, planWith } from './call.fixture.ts'

const event = { type: 'hand_off' as const, plan: planWith({ maxCallMs: 1 }), agentName: 'Billie', summary: 'A refund.' }

describe('a call that is handed to another agent', () => {
  it('goes on with a new session of the model that knows what was said, and is asked once', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, 'I want my money back.')
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on.')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.model({
      ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'hand_off' },
      argumentsText: '{}',
    })
    const before = call.commands('respond').length
    const effects = call.do(event)
    expect(effects.map(({ type }) => type)).toContain('checkpoint')
    const opened = call.all('open_model').at(-1)
    expect(opened?.history).toContain('caller: I want my money back.')
    expect(opened?.history).toContain('The agent Billie has the call from now on. What it was told: A refund.')
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(before + 1)
    expect(call.state.plan.maxCallMs).toBe(1_800_000)
    expect(call.all('clear')).toEqual([])
  })

  it.each([
    ['not all made', 2_000, false],
    ['not all kept', 28_000, true],
  ] as const)('has the first one heard out, and the other not go on with its sentence: %s', (_, ms, isMade) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I pass you on to a colleague, who knows all about it.')
    call.audio('resp_1', 'item_1', 2_000)
    call.audio('resp_1', 'item_1', ms)
    if (isMade) call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    if (isMade) call.ends('resp_1')
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    if (!isMade) call.ends('resp_1', { status: 'cancelled' })
    call.model({ type: 'caller_transcript', itemId: 'noise', text: '' })
    expect(call.all('play_aside')).toHaveLength(1)
    const before = call.commands('respond').length
    call.do(event)
    call.model({ type: 'ready' })
    call.wait(6_000)
    call.echoAll()
    expect(call.state.stopped).toBeNull()
    expect(call.commands('respond').slice(before)).toEqual([])
  })

  it('is not handed over when it is ending, or others have it', () => {
    const ending = Call.greeted()
    ending.do({ type: 'end', reason: 'supervisor' })
    const taken = Call.greeted()
    taken.do({ type: 'take_over' })
    for (const call of [ending, taken]) {
      call.do(event)
      expect(call.all('open_model')).toHaveLength(1)
    }
  })
})

import { describe, expect, it } from 'vitest'
import { Call, kinds } from './call.fixture.ts'
import { hasOpenTurns } from './ending.ts'

/** An answer of four seconds of which the caller has heard two when the stream is gone. */
function cutInAnswer(changes = {}): Call {
  const call = Call.greeted(changes)
  call.says('turn_1', 500)
  call.begins('resp_1')
  call.words('resp_1', 'item_1', 'One two three four.')
  call.audio('resp_1', 'item_1', 4_000)
  call.wait(2_000)
  call.do({ type: 'stream_lost' })
  return call
}

function callTool(call: Call, name: string): void {
  call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: name, name, argumentsText: '{}' })
}

describe('A call that lost its stream', () => {
  it('is silenced where the caller stopped to hear it, and waits', () => {
    const call = cutInAnswer()
    expect(call.state.phase).toBe('detached')
    expect(call.turns.at(-1)).toMatchObject({
      text: 'One two',
      unheard: 'three four.',
      heardMs: 2_000,
      interrupted: true,
    })
    expect(call.commands('cancel')).toMatchObject([{ responseId: 'resp_1' }])
    expect(call.commands('truncate').at(-1)).toMatchObject({ itemId: 'item_1', audioEndMs: 2_000 })
    expect(call.all('discard').at(-1)?.responseIds).toEqual(['resp_1'])
    expect(call.all('clear')).toEqual([])
    expect(call.all('hang_up')).toEqual([])
    expect([call.all('detach').length, call.all('checkpoint').length]).toEqual([1, 1])
    expect(call.notes('state').at(-1)?.state).toBe('detached')
  })

  it('keeps the clocks of the longest call and of itself, and stops all that wait for somebody who hears', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.timers.toSorted()).toEqual(['detached', 'renewal', 'time_up', 'time_warning'])
  })

  it('ends after fifteen seconds in which nobody brings it back', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(14_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(200)
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(2_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'carrier_lost' }])
    expect(call.timers).toEqual([])
  })

  it('that no other node takes says goodbye, and nothing of what it was saying, and ends', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.do({ type: 'hand_over' })
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(6_000)
    call.do({ type: 'kept' })
    call.do({ type: 'end', reason: 'shutdown' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    call.answer('resp_2', 'item_2', 1_000, 'Goodbye.')
    expect(call.all('hang_up')).toEqual([])
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(2_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'shutdown' }])
  })

  it('and is told that no other node takes it says goodbye once the answer that was cut off is over', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.do({ type: 'hand_over' })
    call.do({ type: 'kept' })
    call.do({ type: 'end', reason: 'shutdown' })
    expect(call.all('hang_up')).toEqual([])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
  })

  it.each([500, 4_000])(
    'is left to another node, and not ended by the agent, with a goodbye of which %i ms were heard',
    (heardMs) => {
      const call = Call.greeted()
      call.says('turn_1', 500)
      call.begins('resp_1')
      call.item('resp_1', 'item_1', 4_000, 'Thank you for calling, and goodbye.')
      callTool(call, 'end_call')
      call.ends('resp_1')
      call.wait(heardMs)
      if (heardMs === 4_000) call.echoAll()
      call.do({ type: 'hand_over' })
      call.do({ type: 'tool_finished', outcome: { callId: 'end_call', output: '{}', status: 'ok', endsCall: true } })
      const isHeard = heardMs === 4_000
      expect(call.all('hang_up')).toHaveLength(isHeard ? 1 : 0)
      expect(call.commands('tool_result').some(({ output }) => output.includes('so the call goes on'))).toBe(!isHeard)
    },
  )

  it('and is ended while another node is asked to take it stays ended when none takes it', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 300)
    call.do({ type: 'hand_over' })
    call.do({ type: 'end', reason: 'supervisor' })
    call.do({ type: 'kept' })
    call.wait(20_000)
    const told = call.notes('state').map(({ state }) => state)
    expect(told).toEqual(['waiting', 'talking', 'detached', 'draining', 'ended'])
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'supervisor' }])
  })

  it('waits anew when another stream was promised', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(10_000)
    call.do({ type: 'stream_promised' })
    call.wait(14_000)
    expect(call.state.phase).toBe('detached')
  })

  it('goes on from where it was cut, and is not sorry for a gap that nobody notices', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(800)
    const effects = kinds(call.do({ type: 'attached' }))
    expect(effects.indexOf('attach')).toBeLessThan(effects.indexOf('open_uplink'))
    expect(call.state.phase).toBe('talking')
    const asked = call.commands('respond').at(-1)
    expect(asked?.instructions).toContain('Go on from there')
    expect(asked?.instructions).not.toContain('sorry')
    call.answer('resp_2', 'item_2', 1_000, 'three four.')
    expect(call.state.phase).toBe('talking')
    expect(call.timers).toContain('idle')
  })

  it('says that it is sorry once the caller has been left waiting for more than a second', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/sorry.*go on from where/)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('says nothing of a gap in which nobody was speaking', () => {
    const call = Call.greeted()
    call.do({ type: 'stream_lost' })
    call.wait(5_000)
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toHaveLength(1)
    expect(call.timers).toContain('idle')
  })

  it('goes on with the next stream when its own is stopped after that was promised', () => {
    const call = Call.greeted()
    call.do({ type: 'stream_promised' })
    call.do({ type: 'stream_stopped' })
    expect(call.state.phase).toBe('detached')
    call.do({ type: 'attached' })
    expect(call.state.phase).toBe('talking')
    call.do({ type: 'stream_stopped' })
    expect(call.state.ending).toMatchObject({ reason: 'caller_hangup', isGuessed: true })
  })

  it('is over for sure once its carrier has said so', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.do({ type: 'stream_stopped' })
    expect(call.state.ending?.isGuessed).toBe(true)
    call.do({ type: 'hung_up' })
    expect(call.state.ending).toMatchObject({ reason: 'caller_hangup', isGuessed: false })
  })

  it('is not known to be over when its stream does not come back: its carrier is asked to end it', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.do({ type: 'stream_lost' })
    call.wait(15_000)
    expect([call.all('hang_up').length, call.state.ending]).toMatchObject([1, { isUntold: true }])
  })

  it('asks for an answer again that was asked for and had not begun, and stops the first should it come', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.do({ type: 'stream_lost' })
    call.wait(200)
    call.do({ type: 'attached' })
    call.begins('resp_late')
    expect(call.commands('cancel')).toMatchObject([{ responseId: 'resp_late' }])
    call.ends('resp_late', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(3)
    call.answer('resp_2', 'item_2', 1_000)
    expect(call.state.answers.queue).toEqual([])
  })

  it('hears a caller out who was speaking: the answer waits until there is somebody to hear it', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    const effects = kinds(call.do({ type: 'stream_lost' }))
    expect(effects.indexOf('pad')).toBeLessThan(effects.indexOf('hold_uplink'))
    call.stops('turn_1')
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'I would like' })
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(2_000)
    call.do({ type: 'attached' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/sorry.*answer.*again/)
  })

  it('watches over words again that were cut off with it: their turn may still not come', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.model({ type: 'speech_stopped', itemId: 'turn_1', audioEndMs: 0 })
    call.do({ type: 'stream_lost' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    call.isQuiet(1_900)
    expect(call.all('open_model')).toHaveLength(1)
    call.isQuiet(200)
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })

  it('fills up with silence what was said when it was lost, should nothing be heard after it, and blames no model for the gap', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.do({ type: 'stream_lost' })
    call.wait(13_000)
    call.do({ type: 'attached' })
    expect(call.all('pad')).toHaveLength(1)
    call.wait(1_000)
    expect([call.all('pad').length, call.all('open_model').length]).toEqual([2, 1])
    call.stops('turn_1')
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.timers).not.toContain('padding')
  })

  it('asks a caller to say it again of whose words nothing has come', () => {
    const call = Call.greeted()
    call.model({ type: 'speech_started', itemId: 'turn_1', audioStartMs: 0 })
    call.do({ type: 'stream_lost' })
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/sorry.*say it again/)
  })

  it('asks for words again that a model had lost before, though the stream was lost while they were waited for', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    call.wait(500)
    call.do({ type: 'stream_lost' })
    call.wait(500)
    call.do({ type: 'attached' })
    call.wait(1_000)
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/say it again/)
  })

  it('greets a caller who has heard nothing yet, from the beginning and once', () => {
    const early = new Call()
    early.do({ type: 'stream_lost' })
    early.model({ type: 'ready' })
    expect(early.commands('respond')).toEqual([])
    early.do({ type: 'attached' })
    expect(early.commands('respond')).toMatchObject([{ instructions: expect.stringContaining('Welcome.') }])

    const late = new Call()
    late.do({ type: 'stream_lost' })
    late.do({ type: 'attached' })
    expect(late.state.phase).toBe('waiting')
    late.model({ type: 'ready' })
    expect(late.commands('respond')).toHaveLength(1)
    const told = late.notes('state').map(({ state }) => state)
    expect(told).toEqual(['waiting', 'detached', 'waiting', 'talking'])

    const unheard = new Call()
    unheard.model({ type: 'ready' })
    unheard.answer('resp_greeting', 'item_greeting', 1_000)
    unheard.do({ type: 'stream_lost' })
    unheard.do({ type: 'attached' })
    expect(unheard.commands('delete_item')).toMatchObject([{ itemId: 'item_greeting' }])
    expect(unheard.commands('respond').at(-1)?.instructions).toContain('Welcome.')
  })

  it('keeps what a tool has found out, and says it when it is heard again', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    callTool(call, 'look_up')
    call.ends('resp_1')
    call.do({ type: 'stream_lost' })
    const outcome = { callId: 'look_up', output: '{"found":1}', status: 'ok', endsCall: false } as const
    call.do({ type: 'tool_finished', outcome })
    expect(call.commands('tool_result')).toMatchObject([{ output: '{"found":1}' }])
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(500)
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('watches a tool again that still runs when it is back', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    callTool(call, 'slow')
    call.ends('resp_1')
    call.do({ type: 'stream_lost' })
    expect(call.timers).not.toContain('filler')
    call.do({ type: 'attached' })
    expect(call.timers).toContain('filler')
  })

  it('comes back while its model is being opened anew, and speaks when that is there', () => {
    const call = cutInAnswer()
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.wait(500)
    const effects = kinds(call.do({ type: 'attached' }))
    expect(effects).not.toContain('open_uplink')
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on from there')
    expect(call.all('open_model').at(-1)?.history).toContain('agent: One two')
  })

  it('goes elsewhere when no model can be had, and is not hung up by us after that', () => {
    const call = cutInAnswer({ fallbackNumber: '+12025550100' })
    call.model({ type: 'closed', code: '', message: '', fault: 'fatal' })
    expect(call.all('apologise')).toMatchObject([{ number: '+12025550100' }])
    call.wait(30_000)
    expect(call.all('hang_up')).toEqual([])
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
  })

  it('is over when its carrier says so', () => {
    const call = cutInAnswer()
    call.do({ type: 'hung_up' })
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'caller_hangup' }])
    expect(call.all('hang_up')).toEqual([])
    expect(call.timers).toEqual([])
  })

  it('is ended at once by a supervisor, and by a server that stops: there is nobody to hear a last sentence', () => {
    for (const reason of ['supervisor', 'shutdown'] as const) {
      const call = cutInAnswer()
      call.do({ type: 'end', reason })
      expect(call.all('hang_up')).toHaveLength(1)
      call.wait(2_000)
      expect(call.all('finish')).toMatchObject([{ reason }])
    }
  })

  it('goes on with keys that were not told yet', () => {
    const call = Call.greeted()
    call.do({ type: 'dtmf', digit: '4' })
    call.do({ type: 'stream_lost' })
    call.wait(4_000)
    call.do({ type: 'attached' })
    call.do({ type: 'dtmf', digit: '2' })
    call.wait(3_000)
    expect(call.notes('digits')).toMatchObject([{ digits: '42' }])
  })

  it('may be lost again and again', () => {
    const call = cutInAnswer()
    call.ends('resp_1', { status: 'cancelled' })
    for (let times = 0; times < 5; times += 1) {
      call.do({ type: 'attached' })
      call.wait(100)
      call.do({ type: 'stream_lost' })
      call.do({ type: 'stream_lost' })
    }
    expect([call.all('attach').length, call.all('detach').length]).toEqual([5, 6])
    call.do({ type: 'attached' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on from there')
  })
})

describe('A call whose stream is taken by another', () => {
  it('gives up the one that stands before it goes on with the other', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000, 'One two three four.')
    call.wait(2_000)
    const effects = kinds(call.do({ type: 'attached' }))
    expect(effects.indexOf('detach')).toBeGreaterThanOrEqual(0)
    expect(effects.indexOf('detach')).toBeLessThan(effects.indexOf('attach'))
    expect(call.state.phase).toBe('talking')
    expect(call.timers).not.toContain('detached')
  })

  it('cannot be had when it is ending', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000)
    call.do({ type: 'end', reason: 'shutdown' })
    call.do({ type: 'attached' })
    expect([call.state.phase, call.all('attach'), call.all('hang_up').length]).toEqual(['ended', [], 1])
  })

  it('elsewhere ends here, and nowhere else', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000, 'One two three four.')
    call.wait(2_000)
    call.do({ type: 'taken' })
    expect(call.turns.at(-1)).toMatchObject({ text: 'One two', heardMs: 2_000 })
    expect([call.all('hang_up'), call.state.isLetGo]).toEqual([[], true])
    expect(kinds(call.effects).at(-1)).toBe('finish')
    // Of the call, which goes on, nobody is told that.
    expect(call.notes('state').map(({ state }) => state)).not.toContain('ended')
  })
})

describe('A call that is handed over', () => {
  function handedOver(): Call {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000, 'One two three four.')
    call.wait(2_000)
    call.do({ type: 'hand_over' })
    return call
  }

  it('falls silent, keeps its stream, and ends with it without ending the call', () => {
    for (const end of [{ type: 'stream_stopped' }, { type: 'stream_lost' }] as const) {
      const call = handedOver()
      expect([call.all('clear').length, call.all('detach').length, call.state.phase]).toEqual([1, 0, 'detached'])
      expect(call.turns.at(-1)).toMatchObject({ text: 'One two', unheard: 'three four.' })
      call.do(end)
      expect([call.state.isLetGo, call.all('hang_up')]).toEqual([true, []])
      expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'shutdown' }])
    }
  })

  it('is over for good when the carrier says that the call is', () => {
    const call = handedOver()
    call.do({ type: 'hung_up' })
    call.wait(2_000)
    expect([call.state.isLetGo, call.all('finish')[0]?.reason]).toEqual([false, 'caller_hangup'])
  })

  it('goes on here when nobody has taken it', () => {
    const call = handedOver()
    call.wait(15_000)
    expect([call.state.phase, call.all('hang_up')]).toEqual(['talking', []])
    expect(call.commands('respond').at(-1)?.instructions).toMatch(/sorry.*go on from where/)
  })

  it('may come back to where it was', () => {
    const call = handedOver()
    const effects = kinds(call.do({ type: 'attached' }))
    expect(effects.slice(0, 2)).toEqual(['detach', 'attach'])
    expect(call.state.phase).toBe('talking')
  })

  it('has what its caller keys in written down, whole where that takes no longer than it waits', () => {
    const press = (call: Call, digits: string) => {
      for (const digit of digits) call.do({ type: 'dtmf', digit })
    }
    const typing = () => {
      const call = Call.greeted()
      press(call, '12')
      call.do({ type: 'hand_over' })
      expect(hasOpenTurns(call.state)).toBe(true)
      press(call, '3')
      return call
    }
    const keys = (call: Call) => call.turns.flatMap(({ text }) => text.match(/pressed these keys: (.*)/)?.[1] ?? [])
    const whole = typing()
    press(whole, '4#')
    expect([keys(whole), hasOpenTurns(whole.state)]).toEqual([['1234'], false])
    const half = typing()
    half.wait(2_500)
    expect([keys(half), hasOpenTurns(half.state)]).toEqual([['123'], false])
    press(half, '4')
    half.do({ type: 'stream_stopped' })
    expect(keys(half)).toEqual(['123', '4'])
    const lost = Call.greeted()
    press(lost, '12')
    lost.do({ type: 'stream_lost' })
    lost.do({ type: 'hand_over' })
    expect(keys(lost)).toEqual(['12'])
  })

  it('ends at once when its stream was lost before', () => {
    const call = Call.greeted()
    call.do({ type: 'stream_lost' })
    call.do({ type: 'hand_over' })
    expect([call.state.isLetGo, call.all('hang_up')]).toEqual([true, []])
  })
})

import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'
import type { SessionEvent } from './events.ts'

describe('An answer', () => {
  it('is asked for as soon as the turn is a part of the conversation', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.model({ type: 'speech_stopped', itemId: 'turn_1', audioEndMs: 0 })
    expect(call.commands('respond')).toHaveLength(1)
    call.model({ type: 'committed', itemId: 'turn_1', previousItemId: null })
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is not asked for while another one is asked for or being made: it waits for its end', () => {
    const call = Call.greeted()
    call.do({ type: 'say', text: 'One.' })
    call.do({ type: 'say', text: 'Two.' })
    expect(call.commands('respond')).toHaveLength(2)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 500)
    call.do({ type: 'say', text: 'Three.' })
    expect(call.commands('respond')).toHaveLength(2)
    call.ends('resp_1')
    expect(call.commands('respond').at(-1)?.instructions).toContain('Two.')
  })

  it('covers everything that the caller said before it', () => {
    const call = Call.greeted()
    call.do({ type: 'say', text: 'One.' })
    call.says('turn_1', 500)
    call.says('turn_2', 500)
    call.begins('resp_1')
    call.ends('resp_1', { status: 'cancelled' })
    call.answer('resp_2', 'item_2', 500)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is not begun over a caller who means it, and follows when the caller is done', () => {
    const call = Call.greeted()
    call.model({ type: 'tool_call', responseId: 'r', itemId: 'i', callId: 'c', name: 'look_up', argumentsText: '{}' })
    call.speaks('turn_1', 500)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '1', status: 'ok', endsCall: false } })
    expect(call.commands('respond')).toHaveLength(1)
    call.stops('turn_1')
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('that the model’s server begins by itself is played like any other', () => {
    const call = Call.greeted()
    call.answer('resp_own', 'item_own', 2_000, 'By the way.')
    call.wait(2_000)
    call.echoAll()
    expect(call.all('discard')).toEqual([])
    expect(call.turns.at(-1)).toMatchObject({ text: 'By the way.', heardMs: 2_000 })
  })

  it('whose audio is here before its beginning is not asked for again', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.audio('resp_1', 'item_1', 500)
    call.begins('resp_1')
    call.ends('resp_1')
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.state.owedSinceMs).toBeNull()
  })

  it('whose end is here before its beginning does not wait for another end', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.ends('resp_1')
    call.begins('resp_1')
    expect(call.state.answers.active).toBeNull()
  })

  it('costs what it cost once, however often its end is told', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const before = call.state.usage.outputTokens
    call.answer('resp_1', 'item_1', 1_000)
    call.ends('resp_1')
    call.says('turn_2', 500)
    call.begins('resp_2')
    call.ends('resp_1')
    expect(call.state.usage.outputTokens).toBe(before + 1)
    expect(call.state.answers.active?.responseId).toBe('resp_2')
  })

  it('that nobody waits for more than sixteen of is asked for no more', () => {
    const call = Call.greeted()
    for (let n = 0; n < 100; n++) call.do({ type: 'say', text: `Number ${n}.` })
    expect(call.state.answers.queue.length).toBeLessThanOrEqual(16)
  })
})

describe('A refused request', () => {
  it('F42: is made again when the answer in its way is over, and that answer is not taken for what was asked', () => {
    const call = Call.greeted()
    call.do({ type: 'say', text: 'Mind the step.' })
    const [, asked] = call.commands('respond')
    call.begins('resp_own')
    call.model({ type: 'refused', requestId: asked?.requestId ?? '', code: 'active', message: '', fault: 'benign' })
    call.audio('resp_own', 'item_own', 500)
    call.ends('resp_own')
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.commands('respond').at(-1)?.instructions).toContain('Mind the step.')
  })

  it('does not hold up the call when nothing is in its way: it is made again after a moment', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const asked = call.commands('respond').at(-1)
    call.model({ type: 'refused', requestId: asked?.requestId ?? '', code: 'active', message: '', fault: 'benign' })
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(1_000)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('changes nothing when it is about something else', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const before = call.state.answers
    call.model({ type: 'refused', requestId: null, code: 'item_truncate', message: '', fault: 'benign' })
    call.model({ type: 'refused', requestId: 'ask-0-1', code: 'active', message: '', fault: 'benign' })
    expect(call.state.answers).toBe(before)
    const early = new Call()
    early.model({ type: 'refused', requestId: null, code: 'unknown', message: '', fault: 'benign' })
    expect(early.all('close_model')).toEqual([])
  })

  it('for a key that is no good ends the call with an apology, and no other session is tried', () => {
    const call = Call.greeted()
    call.model({ type: 'refused', requestId: null, code: 'insufficient_quota', message: '', fault: 'fatal' })
    expect(call.all('apologise')).toHaveLength(1)
    call.wait(60_000)
    expect(call.all('open_model')).toHaveLength(1)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'model_lost' }])
  })
})

describe('An answer that is cancelled by nobody here', () => {
  it('is asked for once more when nothing of it was heard, then of a new session, and not for ever', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(3)
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toHaveLength(4)
    call.begins('resp_3')
    call.ends('resp_3', { status: 'cancelled' })
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('is not asked for again when the caller has heard the beginning of it, nor when it is the server’s own', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 500)
    call.ends('resp_1', { status: 'cancelled' })
    call.begins('resp_own')
    call.ends('resp_own', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.state.stall).toBeNull()
  })
})

describe('An answer that its provider keeps back for what is said in it', () => {
  const filtered = { status: 'incomplete', errorCode: 'content_filter' } as const
  const keptBack = (call: Call, responseId: string) => {
    call.begins(responseId)
    call.ends(responseId, filtered)
  }

  it('is asked for once more, then the caller hears that it cannot be given, and the call goes on', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const [, wanted] = call.commands('respond')
    keptBack(call, 'resp_1')
    expect(call.commands('respond').at(-1)?.instructions).toBe(wanted?.instructions)
    keptBack(call, 'resp_2')
    expect(call.commands('respond').at(-1)?.instructions).toContain('cannot help with that')
    expect([call.state.stall, call.all('open_model').length]).toEqual([null, 1])
    call.answer('resp_3', 'item_3', 1_000)
    call.wait(1_000)
    call.echoAll()
    call.says('turn_2', 500)
    const asked = call.commands('respond')
    expect([asked.length, asked.at(-1)?.instructions]).toEqual([5, wanted?.instructions])
    expect(call.all('apologise')).toEqual([])
  })

  it('comes in each turn anew without an end, and the model is not given up', () => {
    const call = Call.greeted()
    for (let turn = 1; turn <= 5; turn += 1) {
      call.says(`turn_${turn}`, 500)
      keptBack(call, `resp_${turn}_a`)
      keptBack(call, `resp_${turn}_b`)
      call.answer(`resp_${turn}_c`, `item_${turn}`, 500)
      call.wait(500)
      call.echoAll()
    }
    expect([call.all('open_model').length, call.all('apologise')]).toEqual([1, []])
  })

  it('in the middle is not left at half a sentence: the caller hears once that it cannot be gone on with, and the call goes on', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const half = (responseId: string) => {
      call.begins(responseId)
      call.audio(responseId, `item_${responseId}`, 1_000)
      call.wait(1_000)
      call.echoAll()
      call.model({ type: 'audio_done', responseId, itemId: `item_${responseId}` })
      call.ends(responseId, filtered)
    }
    half('resp_1')
    const asked = () => call.commands('respond')
    expect([asked().length, asked().at(-1)?.instructions]).toEqual([
      3,
      expect.stringContaining('cannot help with that'),
    ])
    half('resp_2')
    call.wait(3_000)
    expect(asked()).toHaveLength(3)
    call.says('turn_2', 500)
    expect([asked().length, asked().at(-1)?.instructions]).toEqual([4, null])
    expect([call.state.earlierStalls, call.all('open_model').length]).toEqual([0, 1])
  })

  it('in the middle has its call end with what is said in its place where it was to', () => {
    const call = Call.greeted({ maxCallMs: 50_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(50_000)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.ends('resp_1', filtered)
    expect([call.commands('respond').length, call.state.ending]).toEqual([3, null])
    call.answer('resp_2', 'item_2', 1_000)
    expect(call.state.ending?.reason).toBe('max_duration')
  })

  it('is given up with its model where not even that may be said', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    for (let n = 1; n <= 4; n += 1) keptBack(call, `resp_${n}`)
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('cannot help with that')
    keptBack(call, 'resp_5')
    expect(call.all('apologise')).toHaveLength(1)
  })
})

describe('An answer that its provider ends because it is too long', () => {
  const tooLong = { status: 'incomplete', errorCode: 'max_output_tokens' } as const
  const cutOff = (call: Call, responseId: string) => {
    call.begins(responseId)
    call.audio(responseId, `item_${responseId}`, 1_000)
    call.model({ type: 'audio_done', responseId, itemId: `item_${responseId}` })
    call.ends(responseId, tooLong)
  }

  it('is not left in the middle of a sentence: the model is asked once to come to its end', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    cutOff(call, 'resp_1')
    const asked = () => call.commands('respond')
    expect([asked().length, asked().at(-1)?.instructions]).toEqual([3, expect.stringContaining('come to its end')])
    cutOff(call, 'resp_2')
    expect(asked()).toHaveLength(3)
    expect([call.state.stall, call.state.earlierStalls, call.all('open_model').length]).toEqual([null, 0, 1])
  })

  it('is said to its end word for word where it was to be, once', () => {
    const call = Call.greeted()
    call.do({ type: 'say', text: 'This call is recorded.' })
    cutOff(call, 'resp_1')
    const asked = () => call.commands('respond')
    expect([asked().length, asked().at(-1)?.instructions]).toEqual([
      3,
      expect.stringMatching(/Go on from there, .+ exactly as it stands here: This call is recorded\.$/),
    ])
    cutOff(call, 'resp_2')
    expect(asked()).toHaveLength(3)
  })

  it('is over where the caller has spoken into it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.speaks('turn_2', 500)
    call.ends('resp_1', tooLong)
    call.stops('turn_2')
    expect(
      call
        .commands('respond')
        .map(({ instructions }) => instructions)
        .slice(1),
    ).toEqual([null, null])
  })
})

describe('A provider that has too much to do', () => {
  const limited = { status: 'failed', errorCode: 'rate_limit_exceeded', fault: 'retry' } as const

  it('F39: says so at the end of an answer, and is asked once more when it said that it will have time', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'rate_limited', resetMs: 2_500 })
    call.ends('resp_1', limited)
    call.wait(2_400)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(200)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is left alone for as long also where it refuses the request itself', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    const asked = call.commands('respond').at(-1)
    call.model({ type: 'rate_limited', resetMs: 2_500 })
    const refused = { type: 'refused', code: 'rate_limit_exceeded', message: '', fault: 'retry' } as const
    call.model({ ...refused, requestId: asked?.requestId ?? '' })
    call.wait(2_400)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(200)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is not waited for longer than five seconds', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'rate_limited', resetMs: 60_000 })
    call.ends('resp_1', limited)
    call.wait(5_000)
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is left for a new session the second time, and given up the third', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    for (const id of ['resp_1', 'resp_2']) {
      call.begins(id)
      call.ends(id, limited)
      call.wait(1_000)
    }
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    call.begins('2·resp_1')
    call.ends('2·resp_1', limited)
    expect([call.all('apologise').length, call.all('close_model').length]).toEqual([1, 2])
  })
})

describe('An answer that nobody can hear', () => {
  it('is asked for once more when it came without a word', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.ends('resp_1')
    expect(call.commands('respond')).toHaveLength(3)
    call.answer('resp_2', 'item_2', 1_000)
    expect(call.all('open_model')).toHaveLength(1)
  })

  it('is taken out of the conversation and asked for once more when it was written instead of said', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'agent_text', responseId: 'resp_1', itemId: 'item_1', text: 'Hello.', final: true })
    call.ends('resp_1')
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_1' }])
    expect(call.commands('respond')).toHaveLength(3)
    call.begins('resp_2')
    call.model({ type: 'agent_text', responseId: 'resp_2', itemId: 'item_2', text: 'Hello.', final: true })
    call.ends('resp_2')
    expect(call.all('open_model')).toHaveLength(2)
  })

  it('is gone on with once when it failed in the middle', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    for (const id of ['resp_1', 'resp_2']) {
      call.begins(id)
      call.audio(id, `item_${id}`, 500)
      call.ends(id, { status: 'failed', errorCode: 'server_error', fault: 'retry' })
    }
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on')
  })
})

describe('The reducer', () => {
  it('gives the same effects for the same events at the same instants', () => {
    const events: SessionEvent[] = [{ type: 'dtmf', digit: '1' }, { type: 'say', text: 'x' }, { type: 'hung_up' }]
    const [one, other] = [Call.greeted(), Call.greeted()]
    for (const event of events) expect(one.do(event)).toEqual(other.do(event))
  })
})

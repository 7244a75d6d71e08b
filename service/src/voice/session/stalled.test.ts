import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'

describe('A model that owes an answer', () => {
  it('is slow and not stalled when it takes four seconds each time: ten turns, ten answers, nothing cancelled', () => {
    const call = Call.greeted()
    for (let turn = 0; turn < 10; turn++) {
      call.says(`turn_${turn}`, 500)
      call.wait(4_000)
      call.answer(`resp_${turn}`, `item_${turn}`, 1_000)
      call.wait(1_500)
      call.echoAll()
    }
    expect(call.commands('respond')).toHaveLength(11)
    expect(call.commands('cancel')).toEqual([])
    expect(call.all('open_model')).toHaveLength(1)
  })

  it('is asked once more after six seconds, replaced after twelve, given up after fifteen', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(5_900)
    expect(call.commands('respond')).toHaveLength(2)
    call.wait(200)
    expect(call.commands('respond')).toHaveLength(3)
    call.wait(6_000)
    expect(call.all('open_model')).toHaveLength(2)
    call.wait(2_700)
    expect(call.all('apologise')).toEqual([])
    call.wait(300)
    expect(call.all('apologise')).toHaveLength(1)
  })

  it('tells of dead air after two and a half seconds, once, and nothing is cancelled for it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(2_400)
    expect(call.notes('dead_air')).toHaveLength(0)
    call.wait(3_000)
    expect(call.notes('dead_air')).toHaveLength(1)
    expect(call.commands('cancel')).toEqual([])
  })

  it('and falls silent in the middle of a word is stopped and asked to go on; what was said is not cleared', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 500)
    call.wait(6_000)
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    expect(call.all('clear')).toEqual([])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on')
  })

  it('is asked for no more than is left to say when both of two requests come to life', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(6_000)
    call.begins('resp_1')
    const { requestId } = call.commands('respond').at(-1) ?? { requestId: '' }
    call.model({ type: 'refused', requestId, code: 'active', message: '', fault: 'benign' })
    call.audio('resp_1', 'item_1', 500)
    call.ends('resp_1')
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is still waited for when it refuses the second request because it works on the first', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(6_000)
    const { requestId } = call.commands('respond').at(-1) ?? { requestId: '' }
    call.model({ type: 'refused', requestId, code: 'active', message: '', fault: 'benign' })
    call.wait(1_500)
    expect(call.commands('respond')).toHaveLength(3)
    call.answer('resp_1', 'item_1', 500)
    expect(call.commands('respond')).toHaveLength(3)
    expect(call.all('open_model')).toHaveLength(1)
  })

  it('does not hear us when it does not even stop: it is replaced though it is not asked again', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 5_000)
    call.says('turn_2', 500)
    expect(call.commands('cancel')).toHaveLength(1)
    call.wait(2_000)
    expect(call.commands('respond')).toHaveLength(3)
    call.wait(6_000)
    expect(call.all('open_model')).toHaveLength(2)
  })

  it('is not watched while a tool runs, and is when it has answered', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'slow', argumentsText: '{}' })
    call.wait(9_000)
    expect(call.all('open_model')).toHaveLength(1)
    expect(call.commands('cancel')).toEqual([])
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '1', status: 'ok', endsCall: false } })
    call.wait(6_000)
    expect(call.commands('cancel')).toHaveLength(1)
  })

  it('is watched as well behind a tool that ends the call: one that falls silent right then does not keep the caller there for ever', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, 'That was all, goodbye.')
    call.begins('resp_1')
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'end_call', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '1', status: 'ok', endsCall: true } })
    call.wait(8_000)
    expect([call.commands('cancel').length, call.all('open_model').length]).toEqual([1, 2])
    call.model({ type: 'ready' })
    call.answer('resp_2', 'item_2', 1_000, 'Goodbye.')
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('is watched where its server began to speak by itself before it was ready, and said nothing', () => {
    const call = new Call()
    call.begins('resp_1')
    call.model({ type: 'ready' })
    call.wait(8_000)
    expect([call.commands('cancel').length, call.all('open_model').length]).toEqual([1, 2])
  })

  it('starts anew with every word of it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    for (let n = 0; n < 5; n++) {
      call.wait(5_000)
      call.audio('resp_1', 'item_1', 500)
    }
    expect(call.commands('cancel')).toEqual([])
  })
})

describe('An answer that goes silent before its end', () => {
  /** Begins each answer that it is asked for, and goes silent; what it is told to stop it stops, or not. */
  class Breaking {
    readonly call: Call
    #answers = 0
    #asked: number

    constructor(call: Call) {
      this.call = call
      this.#asked = call.commands('respond').length
    }

    /** The next answer that it is asked for, of which it says a little, unless the call is given up before. */
    begin(ms = 200): string {
      const { call } = this
      while (call.commands('respond').length === this.#asked && call.all('apologise').length === 0) {
        if (call.timers.includes('model_setup')) call.model({ type: 'ready' })
        else call.wait(100)
      }
      this.#asked = call.commands('respond').length
      this.#answers += 1
      const id = `broken_${this.#answers}`
      call.begins(id)
      call.audio(id, `item_${id}`, ms)
      return id
    }

    /** It leaves off when it is told to, unless its session is left. */
    stop(responseId: string): void {
      const { call } = this
      const sessions = call.all('open_model').length
      while (call.commands('cancel').at(-1)?.responseId !== responseId) {
        if (call.all('apologise').length > 0 || call.all('open_model').length > sessions) return
        call.wait(100)
      }
      call.ends(responseId, { status: 'cancelled' })
    }
  }

  /** From the first word of the answer to the apology. */
  function givenUpAfterMs(call: Call, isHung: boolean): number {
    const model = new Breaking(call)
    call.says('turn_1', 500)
    const beganMs = call.nowMs
    while (call.all('apologise').length === 0 && call.nowMs - beganMs < 120_000) {
      const id = model.begin()
      if (!isHung) model.stop(id)
    }
    return call.nowMs - beganMs
  }

  it('is gone on with once, then by a new session, then the model is given up', () => {
    const call = Call.greeted()
    expect(givenUpAfterMs(call, false)).toBeLessThanOrEqual(18_500)
    expect([call.commands('respond').length, call.all('open_model').length]).toEqual([4, 2])
  })

  it('is left for a new session where it does not even stop, and then the model is given up', () => {
    const call = Call.greeted()
    expect(givenUpAfterMs(call, true)).toBeLessThanOrEqual(15_500)
    expect([call.commands('respond').length, call.all('open_model').length]).toEqual([3, 2])
  })

  it('is left for the other model, where there is one, which is asked once by then', () => {
    const call = Call.greeted({ fallback: { price: null } })
    const model = new Breaking(call)
    call.says('turn_1', 500)
    model.stop(model.begin())
    model.stop(model.begin())
    expect(call.state.model.isFallback).toBe(true)
    const switchedMs = call.nowMs
    model.stop(model.begin())
    expect([call.all('open_model').length, call.all('apologise').length]).toEqual([2, 1])
    expect(call.nowMs - switchedMs).toBeLessThanOrEqual(6_500)
  })

  it('has a new session, or the other model, tried before the call is given up, also where answers failed before it', () => {
    for (const plan of [{}, { fallback: { price: null } }]) {
      const call = Call.greeted(plan)
      for (const turn of [1, 2]) {
        call.says(`turn_${turn}`, 500)
        for (const part of ['first', 'rest']) {
          const id = `${part}_${turn}`
          call.begins(id)
          call.audio(id, `item_${id}`, 1_000)
          call.wait(1_000)
          call.echoAll()
          call.ends(id, { status: 'failed', errorCode: 'server_error', fault: 'retry' })
        }
      }
      const model = new Breaking(call)
      call.says('turn_3', 500)
      model.stop(model.begin())
      expect([call.all('open_model').length, call.all('apologise')]).toEqual([2, []])
      model.stop(model.begin())
      expect([call.all('open_model').length, call.all('apologise').length]).toEqual([2, 1])
    }
  })

  it('is nothing to a model that then answers to the end, or is cut short while it is heard', () => {
    for (const isCut of [true, false]) {
      const call = Call.greeted()
      const model = new Breaking(call)
      call.says('turn_1', 500)
      model.stop(model.begin())
      if (isCut) {
        const id = model.begin(3_000)
        call.speaks('turn_2', 500)
        call.ends(id, { status: 'cancelled' })
        call.stops('turn_2')
      } else {
        call.answer('resp_9', 'item_9', 1_000)
        call.wait(1_000)
        call.echoAll()
        call.says('turn_2', 500)
      }
      model.stop(model.begin())
      expect([isCut, call.all('open_model').length]).toEqual([isCut, 1])
    }
  })

  it.each([2_600, 3_000, 3_500, 4_000, 4_500, 5_000])(
    'counts on though its caller takes the turn before it has stalled, %i ms after its last sound, whatever bridges that',
    (gapMs) => {
      for (const clips of [[], [{ kind: 'filler' as const, text: 'One moment.', ms: 1_500 }]]) {
        const call = Call.greeted({ clips })
        const model = new Breaking(call)
        call.says('turn_1', 500)
        for (let turn = 2; call.all('apologise').length === 0 && turn < 20; turn += 1) {
          const id = model.begin()
          call.wait(200)
          call.echoAll()
          call.wait(gapMs)
          call.speaks(`turn_${turn}`, 500)
          if (call.commands('cancel').at(-1)?.responseId === id) call.ends(id, { status: 'cancelled' })
          if (call.state.speech) call.stops(`turn_${turn}`)
        }
        const bridges = call.all(clips.length > 0 ? 'play_clip' : 'play_chords').length
        expect([bridges > 2, call.all('open_model').length, call.all('apologise').length]).toEqual([true, 2, 1])
        expect(call.commands('respond')).toHaveLength(4)
      }
    },
  )

  it('counts once where its caller asks after it and it does not even stop then', () => {
    const call = Call.greeted()
    const model = new Breaking(call)
    call.says('turn_1', 500)
    const opened: number[] = []
    for (let turn = 2; call.all('apologise').length === 0 && turn < 20; turn += 1) {
      model.begin()
      call.wait(2_900)
      call.says(`turn_${turn}`, 500)
      call.wait(2_000)
      opened.push(call.all('open_model').length)
    }
    expect([opened, call.commands('respond').length]).toEqual([[1, 2, 2], 4])
  })

  it('does not count where somebody else silences the agent in a gap of it: that is no caller who asks after it', () => {
    for (const type of ['mute', 'take_over'] as const) {
      const call = Call.greeted()
      const model = new Breaking(call)
      call.says('turn_1', 500)
      for (let n = 0; n < 2; n += 1) model.stop(model.begin())
      expect(call.all('open_model')).toHaveLength(2)
      const id = model.begin()
      call.wait(2_700)
      call.do({ type })
      call.ends(id, { status: 'cancelled' })
      call.do({ type: type === 'mute' ? 'unmute' : 'release' })
      call.do({ type: 'person_written' })
      call.says('turn_2', 500)
      expect([type, call.all('apologise').length, call.all('open_model').length]).toEqual([type, 0, 2])
      expect(call.commands('respond')).toHaveLength(5)
    }
  })

  it('does not count where its caller speaks into a short pause of it, nor where a tool runs', () => {
    const call = Call.greeted()
    const model = new Breaking(call)
    call.says('turn_1', 500)
    for (let turn = 2; turn < 8; turn += 1) {
      const id = model.begin()
      const tool = { responseId: id, itemId: `i_${id}`, callId: `c_${id}`, name: 'slow', argumentsText: '{}' }
      if (turn % 2 === 0) call.model({ type: 'tool_call', ...tool })
      call.wait(turn % 2 === 0 ? 3_500 : 1_500)
      call.speaks(`turn_${turn}`, 500)
      call.ends(id, { status: 'cancelled' })
      const outcome = { callId: `c_${id}`, output: '1', status: 'ok', endsCall: false } as const
      if (turn % 2 === 0) call.do({ type: 'tool_finished', outcome })
      call.stops(`turn_${turn}`)
    }
    expect([call.all('open_model').length, call.all('apologise')]).toEqual([1, []])
  })

  it('is one that another voice was to speak, too', () => {
    const call = Call.greeted({ secondVoice: true })
    call.says('turn_1', 500)
    const beganMs = call.nowMs
    for (let at = 0; call.all('apologise').length === 0 && call.nowMs - beganMs < 120_000; ) {
      if (call.timers.includes('model_setup')) call.model({ type: 'ready' })
      if (call.state.answers.asked) {
        at += 1
        call.begins(`resp_${at}`)
        call.model({ type: 'agent_text', responseId: `resp_${at}`, itemId: `item_${at}`, text: 'We', final: false })
      }
      call.wait(100)
      if (call.commands('cancel').at(-1)?.responseId === `resp_${at}` && call.state.answers.active) {
        call.ends(`resp_${at}`, { status: 'cancelled' })
      }
    }
    expect(call.nowMs - beganMs).toBeLessThanOrEqual(25_000)
  })
})

describe('An answer whose end is never told', () => {
  it('is heard out, and the model is told to end it; what it was to end is ended', () => {
    const call = Call.greeted({ maxCallMs: 20_000, idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.wait(20_000)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 7_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.wait(6_500)
    expect(call.all('clear')).toEqual([])
    expect(call.commands('cancel')).toHaveLength(1)
    call.model({ type: 'refused', requestId: null, code: 'not_active', message: '', fault: 'benign' })
    call.wait(1_000)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('is taken for a lost model when that does not answer either', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.wait(8_000)
    expect(call.all('open_model')).toHaveLength(2)
  })
})

describe('What did not come of an answer', () => {
  /** An answer whose end is told only once the model is asked for it. */
  function calledIn(): Call {
    const call = Call.greeted({ idle: { afterMs: 600_000, prompts: [], goodbye: '' } })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.wait(6_000)
    call.model({ type: 'refused', requestId: null, code: 'not_active', message: '', fault: 'benign' })
    call.echoAll()
    return call
  }

  it('is nothing to the next one, which is given all its time', () => {
    const call = calledIn()
    call.wait(9_000)
    call.says('turn_2', 500)
    call.wait(5_900)
    expect([call.commands('respond').length, call.all('open_model').length, call.all('apologise')]).toEqual([3, 1, []])
    call.wait(200)
    expect(call.commands('respond')).toHaveLength(4)
  })

  it('is nothing to one that waited for its end either', () => {
    const interruption = { ...INTERRUPTION, enabled: false, greetingGuardMs: 0 }
    const call = Call.greeted({ interruption })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    call.says('turn_2', 500)
    call.wait(5_500)
    call.model({ type: 'refused', requestId: null, code: 'not_active', message: '', fault: 'benign' })
    call.wait(6_100)
    expect([call.commands('respond').length, call.all('open_model').length]).toEqual([4, 1])
  })

  it('is nothing to a session that is lost later: another one is opened, and not given up for it', () => {
    const call = calledIn()
    call.wait(9_000)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.wait(100)
    expect([call.all('open_model').length, call.all('apologise')]).toEqual([2, []])
  })

  it('is nothing to a turn that the caller takes in its place, before it was asked for again or after', () => {
    for (const errorCode of ['rate_limit_exceeded', 'server_error']) {
      const call = Call.greeted()
      call.says('turn_1', 500)
      call.begins('resp_1')
      call.ends('resp_1', { status: 'failed', errorCode, fault: 'retry' })
      call.speaks('turn_2', 500)
      if (call.state.answers.asked) {
        call.begins('resp_2')
        call.ends('resp_2', { status: 'cancelled' })
      }
      call.sounds(15_000)
      call.stops('turn_2')
      call.wait(1_000)
      expect([call.all('open_model').length, call.all('apologise')]).toEqual([1, []])
    }
  })

  it('counts on while the caller asks after it: a model that answers nothing is replaced all the same', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    for (let turn = 2; turn <= 4; turn++) {
      call.wait(4_500)
      call.says(`turn_${turn}`, 500)
    }
    expect(call.all('open_model')).toHaveLength(2)
  })
})

describe('A model that does not see the end of a turn', () => {
  it('is given silence when the caller’s audio stays away in the middle of speech', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 300)
    call.wait(700)
    expect(call.all('pad')).toEqual([])
    call.wait(100)
    expect(call.all('pad')).toEqual([{ type: 'pad', ms: 1_000 }])
  })

  it('is replaced when it has been quiet for longer than any setting allows, and the caller asked again', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    for (let quietMs = 0; quietMs < 13_000; quietMs += 100) {
      call.wait(100)
      call.do({ type: 'caller_audio', ms: 100, loudMs: 0 })
    }
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    call.wait(1_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })

  it('is replaced when it has seen the end and says nothing more of it', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.model({ type: 'speech_stopped', itemId: 'turn_1', audioEndMs: 0 })
    call.wait(1_900)
    expect(call.all('open_model')).toHaveLength(1)
    call.wait(100)
    expect(call.all('open_model')).toHaveLength(2)
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })
})

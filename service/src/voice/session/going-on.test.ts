import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'

const WORDS = 'One two three four five six seven eight.'

/** A call in which a sound of half a second has stopped the agent 2.3 s into an answer of 8 s, and was taken for a turn. */
function stopped(changes: ConstructorParameters<typeof Call>[0] = {}, words = WORDS): Call {
  const call = Call.greeted(changes)
  call.says('turn_1', 500)
  call.answer('resp_1', 'item_1', 8_000, words)
  call.wait(2_000)
  call.effects.length = 0
  call.speaks('noise', 500)
  call.isQuiet(500)
  call.stops('noise')
  return call
}

function noWords(call: Call, itemId = 'noise'): void {
  call.model({ type: 'caller_transcript', itemId, text: '' })
}

/** All that is under way is heard. */
function heardOut(call: Call, ms = 6_000): void {
  call.wait(ms)
  call.echoAll()
}

const turn = (call: Call, itemId = 'item_1') => call.turns.find((one) => one.itemId === itemId)
const told = (call: Call) => call.commands('system_message').map(({ text }) => text)

describe('A sound that stopped the agent and was no words', () => {
  it('is forgotten: the agent goes on from where it was, and all of it was heard in the end', () => {
    const call = stopped()
    expect([call.all('clear').length, call.commands('respond').length]).toEqual([1, 1])
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: 2_200 }])
    noWords(call)
    expect(call.all('play_aside')).toEqual([{ type: 'play_aside', id: 'again-1' }])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'noise' }])
    expect(call.state.playback.sentMs).toBe(5_800)
    call.begins('resp_2')
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_2' }])
    call.ends('resp_2', { status: 'cancelled' })
    heardOut(call)
    expect(turn(call)).toMatchObject({ text: WORDS, unheard: '', interrupted: false, sentMs: 8_000, heardMs: 8_000 })
    expect(told(call)).toEqual([expect.stringMatching(/went on.*: three four five six seven eight\.$/)])
    expect(call.turns.some(({ itemId }) => itemId === 'noise')).toBe(false)
    expect([call.state.stopped, call.state.owedSinceMs, call.state.latency.interruptions]).toEqual([null, null, 0])
    expect(call.commands('respond')).toHaveLength(1)
  })

  it.each([
    ['a clip', { clips: [{ kind: 'disclosure' as const, text: WORDS, ms: 4_000 }], greeting: '' }],
    ['the model', { greeting: WORDS, disclosure: WORDS }],
  ])('has nothing said again that was to be, and that %s says to its end after all', (_what, plan) => {
    const call = new Call(plan)
    call.model({ type: 'ready' })
    if ('disclosure' in plan) call.answer('resp_1', 'item_1', 4_000, WORDS)
    call.wait(2_000)
    call.speaks('noise', 500)
    call.stops('noise')
    expect(told(call)).toEqual([expect.stringMatching(/exactly this sentence, which was cut short: /)])
    noWords(call)
    heardOut(call)
    expect(told(call).slice(1)).toEqual([expect.stringMatching(/went on.*eight\.\n.* do not say it again\.$/)])
  })

  it('is joined as it was written where words have no blanks between them', () => {
    const whole = '火曜日から日曜日まで営業しております。'
    const call = stopped({}, whole)
    noWords(call)
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    heardOut(call)
    expect(turn(call)).toMatchObject({ text: whole, unheard: '', interrupted: false })
    expect(told(call)).toEqual([expect.stringMatching(/went on.*: 日曜日まで営業しております。$/)])
  })

  it('lets it go on when nobody knows of words after the time that they are given', () => {
    const call = stopped()
    call.wait(1_900)
    expect(call.all('play_aside')).toEqual([])
    call.wait(200)
    expect(call.all('play_aside')).toHaveLength(1)
    noWords(call)
    call.begins('resp_2')
    expect(call.commands('cancel')).toHaveLength(1)
    heardOut(call)
    expect(turn(call)).toMatchObject({ interrupted: false, heardMs: 8_000 })
  })

  it('leaves nothing to be said twice, wherever within a millisecond it came', () => {
    for (const fraction of [0.2, 0.5, 0.8]) {
      const call = Call.greeted()
      call.says('turn_1', 500)
      call.answer('resp_1', 'item_1', 8_000, WORDS)
      call.wait(2_000 + fraction)
      call.speaks('noise', 500)
      call.stops('noise')
      noWords(call)
      call.begins('resp_2')
      call.ends('resp_2', { status: 'cancelled' })
      const asked = call.commands('respond').length
      heardOut(call)
      expect(turn(call)).toMatchObject({ text: WORDS, unheard: '', interrupted: false, sentMs: 8_000, heardMs: 8_000 })
      expect(call.commands('respond')).toHaveLength(asked)
    }
  })

  it('is not waited for where the agent is not to go on, nor where no words come back', () => {
    const capabilities = { truncation: true, callerTranscripts: false, textOutput: true, nativeMulaw: true }
    for (const changes of [{ interruption: { ...INTERRUPTION, resumeFalseMs: 0 } }, { capabilities }]) {
      const call = stopped(changes)
      noWords(call)
      call.wait(3_000)
      expect([call.all('play_aside'), call.timers.includes('resume')]).toEqual([[], false])
    }
  })

  it('is one by its words, too, where those only say "go on"', () => {
    const call = stopped({ interruption: { ...INTERRUPTION, backchannels: ['mhm'] } })
    expect(call.all('clear')).toEqual([])
    const longer = Call.greeted({ interruption: { ...INTERRUPTION, backchannels: ['mhm'] } })
    longer.says('turn_1', 500)
    longer.answer('resp_1', 'item_1', 8_000, WORDS)
    longer.wait(2_000)
    longer.says('noise', 1_500, 'Mhm, mhm, mhm.')
    expect(longer.all('clear')).toHaveLength(1)
    expect(longer.all('play_aside')).toHaveLength(1)
  })

  it('lets a clip go on as well, and the model is told what of it was heard', () => {
    const clips = [{ kind: 'greeting' as const, text: WORDS, ms: 8_000 }]
    const call = new Call({ clips, greeting: '' })
    call.model({ type: 'ready' })
    call.wait(2_000)
    call.speaks('noise', 500)
    call.stops('noise')
    noWords(call)
    heardOut(call)
    expect(turn(call, 'clip-1')).toMatchObject({ text: WORDS, heardMs: 8_000, interrupted: false })
    expect(told(call)).toEqual([expect.stringContaining('cut short'), expect.stringMatching(/went on.*eight\.$/)])
  })

  it('lets it say all that was in line', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 3_000, WORDS)
    call.do({ type: 'say', text: 'One more thing.' })
    call.answer('resp_2', 'item_2', 2_000, 'One more thing.')
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    noWords(call)
    heardOut(call)
    expect([turn(call), turn(call, 'item_2')]).toEqual([
      expect.objectContaining({ heardMs: 3_000, interrupted: false }),
      expect.objectContaining({ heardMs: 2_000, interrupted: false, text: 'One more thing.' }),
    ])
    expect(told(call)).toHaveLength(2)
  })
})

describe('What was not made, or not kept, of what the agent goes on with', () => {
  it('is asked of the model once the rest was heard', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', WORDS)
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    call.ends('resp_1', { status: 'cancelled' })
    noWords(call)
    const asked = call.commands('respond').length
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    expect(call.commands('respond')).toHaveLength(asked)
    heardOut(call)
    expect(turn(call)).toMatchObject({ heardMs: 4_000, interrupted: false })
    expect(call.commands('respond').slice(asked)).toEqual([
      expect.objectContaining({ instructions: expect.stringContaining('Go on from there') }),
    ])
  })

  it('is asked for at once where nothing of it was kept: more than ten seconds never are', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 30_000, WORDS)
    call.wait(15_000)
    call.speaks('noise', 500)
    call.stops('noise')
    noWords(call)
    expect(turn(call)).toMatchObject({ interrupted: true, sentMs: 30_000, heardMs: 15_200 })
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Go on from there')
  })

  it('is not asked for again when it was a tool, which is being run', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(1_000)
    call.speaks('noise', 500)
    call.stops('noise')
    const tool = { type: 'tool_call', responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'look_up' } as const
    call.model({ ...tool, argumentsText: '{}' })
    call.ends('resp_1', { status: 'cancelled' })
    noWords(call)
    heardOut(call)
    call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '{}', status: 'ok', endsCall: false } })
    expect(call.all('run_tool')).toHaveLength(1)
    expect(call.commands('respond').some(({ instructions }) => instructions?.includes('Go on'))).toBe(false)
  })
})

describe('Words that come after all', () => {
  it('before the agent goes on are answered, as they were to be', () => {
    const call = stopped()
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    call.wait(3_000)
    expect([call.all('play_aside'), call.commands('cancel'), call.state.stopped]).toEqual([[], [], null])
    expect(turn(call)).toMatchObject({ interrupted: true, heardMs: 2_200 })
    expect(call.all('drop_aside')).toHaveLength(1)
  })

  it('late stop it again, are answered, and the model knows what was heard until then', () => {
    const call = stopped()
    call.wait(3_000)
    expect(call.all('play_aside')).toHaveLength(1)
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    expect(call.all('clear')).toHaveLength(2)
    expect(turn(call)).toMatchObject({ interrupted: true, sentMs: 8_000, heardMs: 3_200 })
    expect(told(call)).toEqual([expect.stringMatching(/went on.*: three$/)])
    expect(call.commands('truncate')).toHaveLength(1)
    call.answer('resp_2', 'item_2', 1_000)
    expect([call.commands('cancel'), call.commands('respond').length]).toEqual([[], 1])
    expect(turn(call, 'noise')?.text).toBe('Stop, please.')
    expect(call.state.latency.interruptions).toBe(1)
  })

  it('late do not stop it where keys are pressed behind it, and all of it was heard', () => {
    const call = stopped()
    call.wait(3_000)
    call.do({ type: 'press', keys: '1' })
    call.audio('own-keys-1', 'own-keys-1', 250)
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    expect(call.all('clear')).toHaveLength(1)
    heardOut(call)
    expect(turn(call)).toMatchObject({ text: WORDS, unheard: '', interrupted: false, sentMs: 8_000, heardMs: 8_000 })
  })

  it('never, but the model has an answer: it takes the place of what is gone on with', () => {
    const call = stopped()
    call.wait(3_000)
    call.begins('resp_2')
    expect(call.all('clear')).toHaveLength(2)
    expect(call.all('discard').at(-1)?.responseIds).toEqual(['again-1'])
    call.audio('resp_2', 'item_2', 1_000)
    expect([call.commands('cancel'), call.state.playback.utterances.map(({ itemId }) => itemId)]).toEqual([
      [],
      ['item_2'],
    ])
  })

  it('never, but the answer sounds before the agent would go on: it does not', () => {
    const call = stopped()
    call.wait(500)
    call.answer('resp_2', 'item_2', 1_000)
    noWords(call)
    call.wait(3_000)
    expect([call.all('play_aside'), call.state.stopped]).toEqual([[], null])
  })

  it('in time, but the model has begun to answer: that is heard, also when they come late', () => {
    const call = stopped()
    call.begins('resp_2')
    call.wait(2_500)
    expect([call.all('play_aside'), call.state.stopped]).toEqual([[], null])
    call.wait(500)
    call.echoAll()
    call.audio('resp_2', 'item_2', 1_000)
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    expect([call.all('clear').length, call.commands('cancel')]).toEqual([1, []])
    expect(call.state.playback.utterances.map(({ itemId }) => itemId)).toEqual(['item_2'])
  })

  it('late, but a tool is done meanwhile: its answer is theirs too, and is heard in place of the rest, begun before that or after', () => {
    for (const isSoon of [true, false]) {
      const call = Call.greeted()
      call.says('turn_1', 500)
      call.begins('resp_1')
      call.words('resp_1', 'item_1', WORDS)
      call.audio('resp_1', 'item_1', 8_000)
      const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c', name: 'look_up', argumentsText: '{}' }
      call.model({ type: 'tool_call', ...tool })
      call.ends('resp_1')
      call.wait(2_000)
      call.speaks('noise', 500)
      call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '1', status: 'ok', endsCall: false } })
      call.stops('noise')
      if (isSoon) call.begins('resp_2')
      call.wait(2_100)
      if (!isSoon) call.begins('resp_2')
      call.audio('resp_2', 'item_2', 1_000)
      call.effects.length = 0
      call.model({ type: 'caller_transcript', itemId: 'noise', text: 'No, wait.' })
      expect([isSoon, call.all('discard'), call.all('clear'), call.state.stopped]).toEqual([isSoon, [], [], null])
      expect(call.state.playback.utterances.map(({ itemId }) => itemId)).toEqual(['item_2'])
    }
  })

  it('cannot be written down: then it was something', () => {
    const call = stopped()
    call.model({ type: 'caller_transcript_failed', itemId: 'noise' })
    call.wait(3_000)
    expect([call.all('play_aside'), call.state.stopped]).toEqual([[], null])
  })

  it('in what follows the sound are as good as words of it', () => {
    const call = stopped()
    call.speaks('turn_2', 500)
    noWords(call)
    expect(call.all('play_aside')).toEqual([])
    call.stops('turn_2')
    call.wait(1_000)
    call.model({ type: 'caller_transcript', itemId: 'turn_2', text: 'Stop, please.' })
    call.wait(3_000)
    expect([call.all('play_aside'), call.state.stopped]).toEqual([[], null])
  })
})

describe('The words of a sound after which the agent went on, and was stopped by another one', () => {
  /** The words of the first are still to come. */
  function twice(): Call {
    const call = stopped()
    call.wait(2_500)
    call.speaks('noise_2', 500)
    call.stops('noise_2')
    expect([call.all('play_aside').length, call.all('clear').length]).toEqual([1, 2])
    return call
  }

  it('stop it again when they come once the other was none, and are answered', () => {
    const call = twice()
    noWords(call, 'noise_2')
    expect(call.all('play_aside')).toHaveLength(2)
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    expect([call.all('clear').length, call.state.stopped]).toEqual([3, null])
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    call.answer('resp_3', 'item_3', 1_000)
    heardOut(call)
    expect(call.commands('respond')).toHaveLength(2)
    expect(turn(call, 'item_3')).toMatchObject({ interrupted: false })
  })

  it('keep it silent when they come before it is known what the other was', () => {
    const call = twice()
    call.model({ type: 'caller_transcript', itemId: 'noise', text: 'Stop, please.' })
    call.wait(3_000)
    expect([call.all('play_aside').length, call.state.stopped]).toEqual([1, null])
  })

  it('are nothing to answer when there are none either, and all that it said is heard', () => {
    for (const order of [
      ['noise', 'noise_2'],
      ['noise_2', 'noise'],
    ]) {
      const call = twice()
      for (const itemId of order) noWords(call, itemId)
      call.begins('resp_2')
      call.ends('resp_2', { status: 'cancelled' })
      heardOut(call)
      expect(call.turns.filter(({ role }) => role === 'caller')).toEqual([])
      expect(turn(call)).toMatchObject({ text: WORDS, unheard: '', interrupted: false })
      expect([call.commands('respond').length, call.state.owedSinceMs]).toEqual([1, null])
    }
  })
})

describe('An agent that goes on', () => {
  it('is stopped again by the next sound, and goes on again, until all was heard', () => {
    const call = stopped()
    noWords(call)
    call.begins('resp_2')
    call.ends('resp_2', { status: 'cancelled' })
    call.wait(2_000)
    call.speaks('noise_2', 500)
    call.stops('noise_2')
    expect(turn(call)).toMatchObject({ interrupted: true, sentMs: 8_000, heardMs: 4_400 })
    noWords(call, 'noise_2')
    expect(call.all('play_aside').map(({ id }) => id)).toEqual(['again-1', 'again-2'])
    call.begins('resp_3')
    call.ends('resp_3', { status: 'cancelled' })
    heardOut(call)
    expect(turn(call)).toMatchObject({ text: WORDS, interrupted: false, sentMs: 8_000, heardMs: 8_000 })
    expect(told(call).map((text) => text.split(': ')[1])).toEqual(['three four', 'five six seven eight.'])
    expect(call.commands('truncate')).toHaveLength(1)
  })

  it('does not take up again what it has not made, once it has answered what was asked right behind the rest', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', WORDS)
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(1_000)
    call.says('noise', 500, '')
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(3_000)
    call.says('turn_2', 500, 'When do you close?')
    call.answer('resp_2', 'item_2', 1_000)
    const asked = call.commands('respond').length
    heardOut(call)
    expect([call.state.stopped, call.commands('respond').length]).toEqual([null, asked])
    expect(turn(call)).toMatchObject({ text: WORDS, interrupted: false, heardMs: 4_000 })
  })

  it('is not waited for by a caller who hangs up, and what they heard is known', () => {
    const call = stopped()
    noWords(call)
    call.wait(1_000)
    call.do({ type: 'hung_up' })
    expect(turn(call)).toMatchObject({ interrupted: true, heardMs: 3_200, sentMs: 8_000 })
    call.wait(3_000)
    expect([call.state.phase, call.timers]).toEqual(['ended', []])
  })

  it('does not when the caller has hung up meanwhile, nor when the stream is gone', () => {
    for (const type of ['hung_up', 'stream_lost'] as const) {
      const call = stopped()
      call.do({ type })
      noWords(call)
      call.wait(2_500)
      expect([call.all('play_aside'), call.timers.includes('resume')]).toEqual([[], false])
      expect(turn(call)).toMatchObject({ heardMs: 2_200, sentMs: 8_000 })
    }
  })

  it('does not over a person who has taken the call, nor once it was silenced, nor over keys', () => {
    for (const event of [{ type: 'take_over' }, { type: 'mute' }, { type: 'dtmf', digit: '1' }] as const) {
      const call = stopped()
      call.do(event)
      noWords(call)
      call.wait(2_500)
      expect([call.all('play_aside'), call.state.stopped]).toEqual([[], null])
    }
  })

  it('is cut where it is by a person who takes the call', () => {
    const call = stopped()
    noWords(call)
    call.wait(1_000)
    call.do({ type: 'take_over' })
    expect(turn(call)).toMatchObject({ interrupted: true, heardMs: 3_200 })
    expect(call.state.stopped).toBeNull()
  })

  it('does not when the model is lost first; and does with one that is lost later, which a new one is told of as heard', () => {
    const lost = stopped()
    lost.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    lost.wait(2_500)
    expect([lost.all('play_aside'), lost.state.stopped]).toEqual([[], null])
    const call = stopped()
    noWords(call)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toContain(`agent: ${WORDS}`)
    call.model({ type: 'ready' })
    heardOut(call)
    expect(turn(call)).toMatchObject({ interrupted: false, heardMs: 8_000 })
    expect(told(call)).toEqual([])
  })

  it('does not when the model reacts to the sound with a tool', () => {
    const call = stopped()
    call.begins('resp_2')
    const tool = { type: 'tool_call', responseId: 'resp_2', itemId: 'i', callId: 'c', name: 'look_up' } as const
    call.model({ ...tool, argumentsText: '{}' })
    noWords(call)
    call.wait(2_500)
    expect([call.all('play_aside'), call.all('run_tool').length]).toEqual([[], 1])
  })

  it('has a filler told from silence: none comes while it speaks', () => {
    const call = stopped()
    call.wait(2_100)
    call.wait(3_000)
    expect(call.notes('dead_air')).toEqual([])
  })
})

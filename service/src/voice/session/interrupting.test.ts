import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION, kinds } from './call.fixture.ts'

/** A call in which the agent's answer of 8 s has been delivered whole, and 2 s of it were played. */
function listening(): Call {
  const call = Call.greeted()
  call.says('turn_1', 500)
  call.answer('resp_1', 'item_1', 8_000, 'One two three four five six seven eight.')
  call.wait(2_000)
  return call
}

describe('A caller who talks over the agent', () => {
  it('stops it though no answer is active any more, because what counts is what is still to be played', () => {
    const call = listening()
    call.speaks('turn_2', 200)
    expect(call.all('clear')).toHaveLength(1)
    expect(call.commands('cancel')).toEqual([])
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: 2_200 }])
  })

  it('stops an answer in the making: first its audio is dropped, then the buffer cleared, then it is cancelled and cut', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(1_000)
    call.effects.length = 0
    call.speaks('turn_2', 200)
    const order = kinds(call.effects).filter((kind) => ['discard', 'clear', 'cancel', 'truncate'].includes(kind))
    expect([...new Set(order)]).toEqual(['discard', 'clear', 'cancel', 'truncate'])
    expect(call.all('discard')[0]?.responseIds).toEqual(['resp_1'])
  })

  it('does not cut off keys that the agent presses, as a menu that goes on does, and is answered behind them', () => {
    const call = Call.greeted()
    call.audio('own-keys-1', 'own-keys-1', 2_000)
    call.wait(500)
    call.says('turn_1', 600)
    expect([call.all('clear'), call.all('discard')]).toEqual([[], []])
    expect(call.commands('respond')).toHaveLength(2)
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(900)
    call.speaks('turn_2', 400)
    expect(call.all('clear')).toHaveLength(1)
  })

  it('has heard no more than was sent, however long ago that was', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'Some words.')
    call.audio('resp_1', 'item_1', 700)
    call.wait(5_000)
    call.speaks('turn_2', 200)
    expect(call.commands('truncate')).toEqual([])
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject({ heardMs: 700, interrupted: false })
    expect(call.state.playback.utterances).toEqual([])
  })

  it('has heard nothing of what was still in line: those items are deleted, not cut at zero', () => {
    const call = listening()
    call.do({ type: 'say', text: 'One more thing.' })
    call.answer('resp_2', 'item_2', 3_000)
    call.speaks('turn_2', 200)
    expect(call.commands('truncate').map(({ itemId }) => itemId)).toEqual(['item_1'])
    expect(call.commands('delete_item').map(({ itemId }) => itemId)).toEqual(['item_2'])
    expect(call.commands('truncate').every(({ audioEndMs }) => audioEndMs >= 1)).toBe(true)
  })

  it('leaves the record with the words that were heard, and the unheard ones apart', () => {
    const call = listening()
    call.speaks('turn_2', 200)
    const turn = call.turns.find(({ itemId }) => itemId === 'item_1')
    expect(turn).toMatchObject({ interrupted: true, sentMs: 8_000, heardMs: 2_200, text: 'One two' })
    expect(turn?.unheard).toBe('three four five six seven eight.')
  })

  it.each([
    ['月曜日は休みです。火曜日は営業です。', '月曜日は休み', 'です。火曜日は営業です。'],
    ['我们从星期二到星期日营业，时间是中午。', '我们从星期二', '到星期日营业，时间是中午。'],
    ['เราเปิดให้บริการตั้งแต่วันอังคารถึงวันอาทิตย์', 'เราเปิดให้บริการ', 'ตั้งแต่วันอังคารถึงวันอาทิตย์'],
  ])('leaves them apart, at the end of a word, where words have no blanks between them: %s', (whole, text, unheard) => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 6_000, whole)
    call.wait(2_000)
    call.speaks('turn_2', 200)
    const turn = call.turns.find(({ itemId }) => itemId === 'item_1')
    expect(turn).toMatchObject({ interrupted: true, heardMs: 2_200, text, unheard })
  })

  it('is not answered with what was asked for before, should that come to life only now', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.speaks('turn_2', 300)
    call.begins('resp_1')
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_1' }])
    expect(call.all('discard').at(-1)?.responseIds).toEqual(['resp_1'])
  })

  it('has heard nothing of what the model made until it left off: it is taken out, and in no turn', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.speaks('turn_2', 300)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I see.')
    expect(call.commands('delete_item')).toEqual([])
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_1' }])
    expect(call.turns.some(({ itemId }) => itemId === 'item_1')).toBe(false)
  })

  it('is told all the same what a supervisor wants said, once the caller is done', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.do({ type: 'say', text: 'Mind the step.' })
    call.speaks('turn_2', 300)
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Mind the step.')
  })

  it('has what was heard of an answer cut, and what came of it too late taken out', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'One two three four.')
    call.audio('resp_1', 'item_1', 4_000)
    call.speaks('turn_2', 300)
    call.words('resp_1', 'item_2', 'Five six.')
    call.ends('resp_1', { status: 'cancelled' })
    expect(call.commands('truncate').map(({ itemId }) => itemId)).toEqual(['item_1'])
    expect(call.commands('delete_item').map(({ itemId }) => itemId)).toEqual(['item_2'])
  })

  it('is not taken to have heard marks that the carrier echoes because its buffer was cleared', () => {
    const call = listening()
    call.speaks('turn_2', 200)
    call.do({ type: 'mark', name: 'm2' })
    call.do({ type: 'mark', name: 'end-item_1' })
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')?.heardMs).toBe(2_200)
    expect(call.state.playback).toMatchObject({ sentMs: 0, confirmedMs: 0, utterances: [] })
  })

  it('does not stop an agent that was told not to be interrupted, and is answered after it', () => {
    const interruption = { ...INTERRUPTION, enabled: false, minSpeechMs: 300, greetingGuardMs: 0 }
    const call = Call.greeted({ interruption })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.says('turn_2', 500)
    expect(call.all('clear')).toEqual([])
    call.ends('resp_1')
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('is cut where it was heard also when a word that bridges a wait has sounded in the middle of it', () => {
    const call = Call.greeted({ asyncTools: ['look_up'], clips: [{ kind: 'filler', text: 'One moment.', ms: 700 }] })
    call.says('turn_1', 500)
    call.begins('resp_1')
    const tool = { responseId: 'resp_1', itemId: 'i', callId: 'c1', name: 'look_up', argumentsText: '{}' }
    call.model({ type: 'tool_call', ...tool })
    call.ends('resp_1')
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 1_000)
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    call.wait(1_000)
    call.echoAll()
    call.wait(2_500)
    expect(call.all('play_clip')).toHaveLength(1)
    call.wait(700)
    call.echoAll()
    call.audio('resp_2', 'item_2', 2_000)
    call.wait(300)
    call.speaks('turn_2', 200)
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_2', audioEndMs: 1_500 }])
  })
})

describe('An utterance of a model session that was lost', () => {
  const LOST = { type: 'closed', code: '1006', message: '', fault: 'retry' } as const

  /** Two answers, of which the caller hears the first when another session is told of both as said. */
  function replaced(): Call {
    const call = listening()
    call.do({ type: 'say', text: 'One more thing.' })
    call.answer('resp_2', 'item_2', 3_000, 'One more thing.')
    call.model(LOST)
    expect(call.all('open_model').at(-1)?.history).toContain('eight.\nagent: One more thing.')
    call.wait(500)
    call.model({ type: 'ready' })
    call.effects.length = 0
    return call
  }

  const told = (call: Call) => call.commands('system_message').map(({ text }) => text)

  it('is told to the new one as it was heard when it is cut short, and not cut there', () => {
    const call = replaced()
    call.wait(1_300)
    call.speaks('2·turn_2', 200)
    expect([call.commands('truncate'), call.commands('delete_item')]).toEqual([[], []])
    expect(told(call)).toEqual([
      expect.stringMatching(/has heard only this.*: One two three four$/),
      expect.stringMatching(/has heard nothing.*: One more thing\.$/),
    ])
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject({
      heardMs: 4_000,
      text: 'One two three four',
    })
    expect(call.notes('interrupted')).toHaveLength(2)
  })

  it('is told once, also while the new one is not ready yet, or when the agent goes on with it and is cut short again', () => {
    const call = replaced()
    call.wait(1_300)
    call.says('2·cough', 300, '')
    expect(call.notes('resumed')).toHaveLength(1)
    call.wait(1_000)
    call.speaks('2·turn_2', 300)
    expect(told(call).filter((text) => text.includes('only this'))).toHaveLength(1)
    const keyed = listening()
    keyed.model(LOST)
    keyed.do({ type: 'dtmf', digit: '1' })
    expect(told(keyed)).toEqual([expect.stringMatching(/has heard only this.*: One two$/)])
  })

  it('that was heard to its end is nothing to tell of', () => {
    const call = replaced()
    call.wait(9_000)
    call.echoAll()
    call.speaks('2·turn_2', 300)
    expect(told(call)).toEqual([])
  })
})

describe('What the model heard before we could measure it', () => {
  it('counts when it was said while a session was replaced: it is answered in place of the rest', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 800)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.wait(1_500)
    call.model({ type: 'ready' })
    call.wait(50)
    call.hears('turn_2', { fromMs: 200, untilMs: 1_300 })
    expect(call.commands('delete_item')).toEqual([])
    call.begins('resp_2')
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'resp_2' }])
    call.ends('resp_2', { status: 'cancelled' })
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
  })

  it('counts when a word was half over before its beginning was told', () => {
    const call = listening()
    const atMs = call.nowMs
    call.wait(350)
    call.model({ type: 'speech_started', itemId: 'turn_2', audioStartMs: atMs - 300 })
    call.wait(100)
    call.do({ type: 'caller_audio', ms: 100, loudMs: 100 })
    call.isQuiet(600)
    expect(call.all('clear')).toEqual([])
    call.stops('turn_2', { fromMs: atMs, untilMs: atMs + 500 })
    expect(call.all('clear')).toHaveLength(1)
    expect(call.commands('delete_item')).toEqual([])
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('counts by its words where nobody tells how long a server waits for the end of speech', () => {
    const call = new Call({ hearing: { prefixMs: 300, silenceMs: null } })
    call.wait(2_500)
    call.model({ type: 'ready' })
    call.hears('turn_1', { fromMs: 500, untilMs: 1_800 })
    expect(call.commands('delete_item')).toEqual([])
    call.answer('resp_1', 'item_1', 1_000)
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'I want to book a table.' })
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('does not count when it is the agent’s own echo: long, and hardly loud where we measured it', () => {
    const call = listening()
    const atMs = call.nowMs
    call.wait(350)
    call.model({ type: 'speech_started', itemId: 'echo', audioStartMs: atMs - 300 })
    call.isQuiet(2_000)
    call.stops('echo', { fromMs: atMs, untilMs: atMs + 1_800 })
    expect(call.all('clear')).toEqual([])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'echo' }])
  })

  it('is measured where it was also after a gap in the audio, of which the model does not know', () => {
    const call = listening()
    const atMs = call.nowMs - 2_000
    call.wait(350)
    call.model({ type: 'speech_started', itemId: 'echo', audioStartMs: atMs - 300 })
    call.isQuiet(2_000)
    call.stops('echo', { fromMs: atMs, untilMs: atMs + 1_800 })
    expect(call.all('clear')).toEqual([])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'echo' }])
  })
})

describe('A sound that is too short to count', () => {
  it('neither clears nor cancels while the agent speaks, and is taken out of the conversation', () => {
    const call = listening()
    const asked = call.commands('respond').length
    call.speaks('cough', 100)
    call.wait(500)
    call.stops('cough')
    expect(call.all('clear')).toEqual([])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'cough' }])
    expect(call.commands('respond')).toHaveLength(asked)
    call.model({ type: 'caller_transcript', itemId: 'cough', text: 'hm' })
    expect(call.turns.some(({ itemId }) => itemId === 'cough')).toBe(false)
  })

  it('is told from speech by how long it was loud, not by when the model saw its end', () => {
    const call = listening()
    call.speaks('cough', 100)
    for (let quietMs = 0; quietMs < 2_000; quietMs += 100) {
      call.wait(100)
      call.do({ type: 'caller_audio', ms: 100, loudMs: 0 })
    }
    expect(call.all('clear')).toEqual([])
  })

  it('counts at once where the agent is set to take every sound', () => {
    const interruption = { ...INTERRUPTION, enabled: true, minSpeechMs: 0, greetingGuardMs: 0 }
    const call = Call.greeted({ interruption })
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 4_000)
    const effects = call.model({ type: 'speech_started', itemId: 'turn_2', audioStartMs: 0 })
    expect(kinds(effects)).toContain('clear')
  })
})

describe('The greeting', () => {
  it('is not stopped in its first second, and then is', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(100)
    call.speaks('turn_1', 1_100)
    expect(call.all('clear')).toEqual([])
    call.sounds(100)
    expect(call.all('clear')).toHaveLength(1)
  })

  it('is not stopped by a hello that was over within its guard, nor is that answered', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.speaks('turn_1', 600)
    call.isQuiet(500)
    expect(call.all('clear')).toEqual([])
    call.stops('turn_1', { fromMs: 0, untilMs: 600 })
    expect(call.all('clear')).toEqual([])
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'turn_1' }])
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('is stopped by words that began in its guard and went on for long enough after it', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.wait(700)
    call.speaks('turn_1', 500)
    expect(call.all('clear')).toEqual([])
    call.isQuiet(500)
    call.stops('turn_1', { fromMs: 600, untilMs: 1_200 })
    expect(call.all('clear')).toEqual([])
    call.speaks('turn_2', 200)
    expect(call.all('clear')).toHaveLength(1)
  })

  it.each([
    ['is', 2_000],
    ['for a moment is not', 1_000],
  ] as const)('is stopped by nobody in its guard, and who has spoken on behind it %s answered', (_, forMs) => {
    const call = new Call({ interruption: { ...INTERRUPTION, greetingGuardMs: 10_000 } })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(100)
    call.speaks('turn_1', forMs)
    call.isQuiet(500)
    call.stops('turn_1', { fromMs: 0, untilMs: forMs })
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'I want to book a table.' })
    expect(call.all('clear')).toEqual([])
    expect(call.commands('respond')).toHaveLength(forMs > 1_500 ? 2 : 1)
  })

  it('comes first, also for a caller who spoke before it: that is answered after it', () => {
    for (const greetingGuardMs of [0, 1_000]) {
      const call = new Call({ interruption: { ...INTERRUPTION, greetingGuardMs } })
      call.wait(2_500)
      call.model({ type: 'ready' })
      call.wait(50)
      call.hears('turn_1', { fromMs: 500, untilMs: 1_800 })
      expect([call.commands('delete_item'), call.all('clear'), call.commands('respond').length]).toEqual([[], [], 1])
      call.answer('resp_1', 'item_1', 1_000)
      expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
        expect.stringContaining('Welcome.'),
        expect.stringContaining('spoke before your greeting'),
      ])
    }
  })

  it('is guarded while it is still on its way', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.speaks('turn_1', 700)
    call.begins('resp_1')
    expect(call.commands('cancel')).toEqual([])
  })
})

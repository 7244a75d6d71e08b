import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'

/** A sound of 200 ms while the agent is silent. */
function sound(call: Call, itemId: string): void {
  call.speaks(itemId, 100)
  call.stops(itemId)
}

describe('A short sound into silence', () => {
  it('is a word when its text has one, and is answered then', () => {
    for (const text of ['No.', '5', '好', 'OK', 'J.', 'É']) {
      const call = Call.greeted()
      sound(call, 'turn_1')
      expect(call.commands('respond')).toHaveLength(1)
      call.model({ type: 'caller_transcript', itemId: 'turn_1', text })
      expect(call.commands('respond')).toHaveLength(2)
      expect(call.turns.at(-1)).toMatchObject({ role: 'caller', text })
    }
  })

  it('is a cough when it has none, and is taken out of the conversation', () => {
    for (const text of ['', ' . ', 'h', null]) {
      const call = Call.greeted()
      sound(call, 'turn_1')
      if (text === null) call.model({ type: 'caller_transcript_failed', itemId: 'turn_1' })
      else call.model({ type: 'caller_transcript', itemId: 'turn_1', text })
      expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'turn_1' }])
      expect(call.commands('respond')).toHaveLength(1)
      expect(call.turns.some(({ role }) => role === 'caller')).toBe(false)
    }
  })

  it('is a cough at once where the model gives no text of the caller', () => {
    const call = Call.greeted({
      capabilities: { truncation: true, callerTranscripts: false, textOutput: true, nativeMulaw: true },
    })
    sound(call, 'turn_1')
    expect(call.commands('delete_item')).toHaveLength(1)
  })

  it('is taken for a word when nothing tells within two seconds what it was: it is answered, once', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.wait(1_900)
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(100)
    expect(call.commands('respond')).toHaveLength(2)
    call.answer('resp_1', 'item_1', 1_000, 'Very well.')
    call.wait(6_000)
    expect([call.commands('respond').length, call.commands('delete_item'), call.all('clear')]).toEqual([2, [], []])
  })

  it.each([
    ['a word', 'No.', ['Some words.', 'No.', 'Very well.']],
    ['none', '', ['Some words.', 'Very well.']],
    ['nobody knows what', null, ['Some words.', '', 'Very well.']],
  ])(
    'that was answered so is not answered again, nor is its answer stopped, when it turns out late to be %s',
    (_what, text, turns) => {
      const call = Call.greeted()
      sound(call, 'turn_1')
      call.wait(2_000)
      call.begins('resp_1')
      call.words('resp_1', 'item_1', 'Very well.')
      call.audio('resp_1', 'item_1', 1_000)
      if (text === null) call.model({ type: 'caller_transcript_failed', itemId: 'turn_1' })
      else call.model({ type: 'caller_transcript', itemId: 'turn_1', text })
      call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
      call.ends('resp_1')
      call.wait(1_000)
      call.echoAll()
      expect([call.commands('respond').length, call.commands('cancel'), call.all('clear')]).toEqual([2, [], []])
      expect(call.turns.map(({ text: said }) => said)).toEqual(turns)
    },
  )

  /** A tool runs, the caller makes a short sound, and the tool's result comes before it is known what that was. */
  function duringTool(): Call {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    const tool = { itemId: 'i_c1', callId: 'c1', name: 'look_up', argumentsText: '{}' }
    call.model({ type: 'tool_call', responseId: 'resp_1', ...tool })
    call.ends('resp_1')
    sound(call, 'turn_2')
    call.do({ type: 'tool_finished', outcome: { callId: 'c1', output: '{}', status: 'ok', endsCall: false } })
    expect(call.commands('respond')).toHaveLength(3)
    return call
  }

  it.each([
    ['are there then', (call: Call) => call.model({ type: 'caller_transcript', itemId: 'turn_2', text: 'Yes.' })],
    ['do not come', () => {}],
  ])('during a tool is answered with its result, and not again when its words %s', (_how, tell) => {
    const call = duringTool()
    call.begins('resp_2')
    tell(call)
    call.words('resp_2', 'item_2', 'It is there.')
    call.audio('resp_2', 'item_2', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_2', itemId: 'item_2' })
    call.ends('resp_2')
    call.wait(3_000)
    call.echoAll()
    expect([call.commands('respond').length, call.all('clear')]).toEqual([3, []])
    expect(call.turns.map(({ text }) => text)).toContain('It is there.')
  })

  it('after a tool’s result is answered by itself', () => {
    const call = duringTool()
    call.answer('resp_2', 'item_2', 1_000)
    call.wait(1_000)
    sound(call, 'turn_3')
    call.model({ type: 'caller_transcript', itemId: 'turn_3', text: 'Yes.' })
    expect(call.commands('respond')).toHaveLength(4)
  })

  it('is one turn with others that are not known either by then', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.wait(1_000)
    sound(call, 'turn_2')
    call.wait(900)
    expect(call.commands('respond')).toHaveLength(2)
    call.answer('resp_1', 'item_1', 1_000, 'Very well.')
    call.wait(3_000)
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is waited for no longer because of one that has turned out to be nothing, and as long as any other', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.wait(1_000)
    sound(call, 'turn_2')
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: '' })
    call.wait(1_900)
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(100)
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('that is taken for a word stops nobody who speaks by then, and is answered behind them', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.do({ type: 'say', text: 'Please hold.' })
    call.answer('resp_1', 'item_1', 4_000, 'Please hold.')
    call.wait(2_000)
    expect([call.all('clear'), call.commands('respond').length]).toEqual([[], 3])
  })

  /** A short sound, then an "mhm" over what a supervisor has the agent say, 500 ms before the sound is taken for a word. */
  function withMhm(): Call {
    const call = Call.greeted({ interruption: { ...INTERRUPTION, backchannels: ['mhm'] } })
    sound(call, 'cough')
    call.do({ type: 'say', text: 'Please hold.' })
    call.answer('resp_1', 'item_1', 6_000, 'Please hold.')
    call.wait(1_000)
    call.speaks('mhm', 500)
    call.stops('mhm')
    call.wait(600)
    return call
  }

  it('that is taken for a word decides nothing of what may only say "go on": the agent is not stopped by that', () => {
    const call = withMhm()
    expect([call.all('clear'), call.commands('respond').length]).toEqual([[], 3])
    call.model({ type: 'caller_transcript', itemId: 'mhm', text: 'Mhm.' })
    call.wait(3_000)
    expect([call.all('clear'), call.commands('respond').length]).toEqual([[], 3])
  })

  it('leaves that its own time: whose words do not come then stops the agent', () => {
    const call = withMhm()
    call.wait(800)
    expect(call.all('clear')).toEqual([])
    call.wait(200)
    expect(call.all('clear')).toHaveLength(1)
  })

  it('whose session is lost before its words are there was perhaps a word: the caller is asked to say it again', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    call.model({ type: 'ready' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('say it again')
  })

  it('is waited for as long where the stream was away meanwhile', () => {
    const call = Call.greeted()
    sound(call, 'turn_1')
    call.wait(500)
    call.do({ type: 'stream_lost' })
    call.wait(900)
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toHaveLength(1)
    call.wait(600)
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('is noise when many of them wait for their text: the oldest is taken out', () => {
    const call = Call.greeted()
    for (let n = 0; n < 20; n++) sound(call, `turn_${n}`)
    expect(call.state.undecided.length).toBeLessThanOrEqual(8)
    expect(call.commands('delete_item')[0]?.itemId).toBe('turn_0')
  })
})

describe('A caller’s turn', () => {
  it('is answered before its text is there, and kept when it is', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.turns.some(({ itemId }) => itemId === 'turn_1')).toBe(false)
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'What is it?' })
    expect(call.turns.at(-1)).toMatchObject({ text: 'What is it?', role: 'caller', startMs: 1_000, endMs: 1_500 })
  })

  it('stands before its answer in the record though its text comes after it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.answer('resp_1', 'item_1', 1_000, 'It is this.')
    call.wait(1_000)
    call.echoAll()
    call.model({ type: 'caller_transcript', itemId: 'turn_1', text: 'What is it?' })
    expect(call.turns.map(({ text }) => text)).toEqual(['Some words.', 'What is it?', 'It is this.'])
    expect(call.turns.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })

  it('whose text never comes is in the record without words, at its times; the next model session is not told of it', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.answer('resp_1', 'item_1', 1_000, 'It is this.')
    call.wait(1_000)
    call.echoAll()
    call.model({ type: 'caller_transcript_failed', itemId: 'turn_1' })
    expect(call.turns.map(({ seq, text }) => [seq, text])).toEqual([
      [1, 'Some words.'],
      [2, ''],
      [3, 'It is this.'],
    ])
    expect(call.turns[1]).toMatchObject({ role: 'caller', startMs: 1_000, endMs: 1_500 })
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toBe('agent: Some words.\nagent: It is this.')
  })

  it('whose text has not come when the call ends is in its record, too, and a cough that waits for its text is not', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.answer('resp_1', 'item_1', 1_000, 'It is this.')
    call.wait(1_000)
    call.echoAll()
    call.says('turn_2', 100, null)
    call.do({ type: 'hung_up' })
    call.wait(2_000)
    expect(call.all('finish')).toHaveLength(1)
    expect(call.turns.map(({ text }) => text)).toEqual(['Some words.', '', 'It is this.'])
  })

  it('in which nobody said a word, as its text tells, is none', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, '')
    call.do({ type: 'hung_up' })
    call.wait(2_000)
    expect(call.turns.map(({ text }) => text)).toEqual(['Some words.'])
  })

  it('that turns out to be a cough over the agent is none, though its text came before that was known', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 4_000)
    call.speaks('cough', 100)
    call.model({ type: 'caller_transcript', itemId: 'cough', text: 'Hm.' })
    call.stops('cough')
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'cough' }])
    expect(call.turns.map(({ text }) => text)).toEqual(['Some words.', 'What is it?'])
  })

  it('is answered though the model never told when it began', () => {
    const call = Call.greeted()
    call.model({ type: 'committed', itemId: 'turn_1', previousItemId: null })
    expect(call.commands('respond')).toHaveLength(2)
  })

  it('tells how quickly it was answered', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.wait(420)
    call.begins('resp_1')
    call.audio('resp_1', 'item_1', 500)
    expect(call.notes('latency')).toEqual([{ type: 'latency', responseMs: 420 }])
    expect(call.state.latency).toMatchObject({ greetingMs: 0, responsesMs: [420] })
  })
})

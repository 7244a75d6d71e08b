import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

/** A sound of 200 ms while the agent is silent. */
function sound(call: Call, itemId: string): void {
  call.speaks(itemId, 100)
  call.stops(itemId)
}

describe('A short sound into silence', () => {
  it('is a word when its text has one, and is answered then', () => {
    for (const text of ['No.', '5', '好', 'OK']) {
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

  it('whose text never comes leaves no gap in the record', () => {
    const call = Call.greeted()
    call.says('turn_1', 500, null)
    call.answer('resp_1', 'item_1', 1_000, 'It is this.')
    call.wait(1_000)
    call.echoAll()
    call.model({ type: 'caller_transcript_failed', itemId: 'turn_1' })
    expect(call.turns.map(({ seq, text }) => [seq, text])).toEqual([
      [1, 'Some words.'],
      [2, 'It is this.'],
    ])
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

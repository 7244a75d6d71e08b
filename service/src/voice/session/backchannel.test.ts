import { describe, expect, it } from 'vitest'
import { growth } from '../../../test/harness/growth.ts'
import { isBackchannel } from './backchannel.ts'
import { Call, INTERRUPTION } from './call.fixture.ts'

const interruption = { ...INTERRUPTION, backchannels: ['mhm', 'okay', 'I see', 'うん'] }

/** A call in which the agent has 6 s left to say. */
function listening(changes = {}): Call {
  const call = Call.greeted({ interruption, ...changes })
  call.says('turn_1', 500)
  call.answer('resp_1', 'item_1', 8_000, 'One two three four five six seven eight.')
  call.wait(2_000)
  call.effects.length = 0
  return call
}

/** The caller says something short; its words come 300 ms after its end was told. */
function answers(call: Call, text: string | null, ms = 500): void {
  call.speaks('turn_2', ms)
  call.wait(500)
  call.stops('turn_2')
  call.wait(300)
  call.model(
    text === null
      ? { type: 'caller_transcript_failed', itemId: 'turn_2' }
      : { type: 'caller_transcript', itemId: 'turn_2', text },
  )
}

describe('Words that only say "go on"', () => {
  it.each(['Mhm.', 'Okay, okay.', 'I see, mhm!', 'うん、うん。', 'うんうん'])(
    'neither stop the agent nor are answered: %s',
    (text) => {
      const call = listening()
      answers(call, text)
      expect([call.all('clear'), call.commands('cancel'), call.commands('respond'), call.commands('truncate')]).toEqual(
        [[], [], [], []],
      )
      expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'turn_2' }])
      call.wait(6_000)
      call.echoAll()
      expect(call.turns.map(({ itemId }) => itemId)).not.toContain('turn_2')
      expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject({ interrupted: false, heardMs: 8_000 })
      expect(call.timers).not.toContain('words')
    },
  )

  it.each(['Okay, but when?', 'No.', 'See?'])('are told from others, which stop it when they arrive: %s', (text) => {
    const call = listening()
    answers(call, text)
    expect(call.all('clear')).toHaveLength(1)
    expect(call.commands('respond')).toHaveLength(1)
    expect(call.commands('truncate')).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: 3_300 }])
    expect(call.turns.find(({ itemId }) => itemId === 'turn_2')?.text).toBe(text)
  })

  it.each([
    ['waited for again', 500, 900],
    ['not waited for any longer', 5_000, 0],
  ])('are %s when the stream was lost for a while: what never comes is more', (_how, awayMs, waitMs) => {
    const call = listening()
    call.speaks('turn_2', 500)
    call.wait(500)
    call.stops('turn_2')
    call.do({ type: 'stream_lost' })
    call.wait(awayMs)
    call.do({ type: 'attached' })
    call.wait(waitMs)
    const isOwed = () => [call.state.answers.asked?.ask, ...call.state.answers.queue].some((one) => one?.why === 'turn')
    expect(isOwed()).toBe(waitMs === 0)
    call.wait(200)
    expect(isOwed()).toBe(true)
    expect(call.timers).not.toContain('words')
  })

  it('are an answer when the agent has finished meanwhile', () => {
    const call = listening()
    call.wait(5_000)
    answers(call, 'Okay.')
    expect(call.commands('respond')).toHaveLength(1)
    expect(call.turns.find(({ itemId }) => itemId === 'turn_2')?.text).toBe('Okay.')
  })

  it('are answered at once where the agent does not speak', () => {
    const call = listening()
    call.wait(7_000)
    call.echoAll()
    call.says('turn_2', 500, null)
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('are not waited for by who speaks for longer: that stops the agent within a second', () => {
    const call = listening()
    call.speaks('turn_2', 900)
    expect(call.all('clear')).toHaveLength(1)
  })

  it('are not known when they stay away, or cannot be written down: then the caller has said something', () => {
    for (const isTold of [true, false]) {
      const call = listening()
      call.speaks('turn_2', 500)
      call.wait(500)
      call.stops('turn_2')
      if (isTold) call.model({ type: 'caller_transcript_failed', itemId: 'turn_2' })
      else call.wait(1_500)
      expect([call.all('clear').length, call.commands('respond').length]).toEqual([1, 1])
      call.model({ type: 'caller_transcript', itemId: 'turn_2', text: 'Wait.' })
      expect(call.turns.find(({ itemId }) => itemId === 'turn_2')?.text).toBe('Wait.')
    }
  })

  it('are not waited for where no words come back at all', () => {
    const capabilities = { truncation: true, callerTranscripts: false, textOutput: true, nativeMulaw: true }
    const call = listening({ capabilities })
    call.speaks('turn_2', 200)
    expect(call.all('clear')).toHaveLength(1)
  })

  it('stay in the record when a person has the call', () => {
    const call = listening()
    call.do({ type: 'take_over' })
    call.audio('own-person-1', 'own-person-1', 3_000)
    answers(call, 'Okay.')
    expect(call.turns.find(({ itemId }) => itemId === 'turn_2')?.text).toBe('Okay.')
  })

  it('that were being waited for when the model was lost leave nothing behind', () => {
    const call = listening()
    call.speaks('turn_2', 500)
    call.stops('turn_2')
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    expect([call.timers.includes('words'), call.state.undecided]).toEqual([false, []])
  })

  it('are not taken for that when the model was lost before they were known: the caller is asked for them', () => {
    const call = listening()
    call.speaks('turn_2', 500)
    call.stops('turn_2')
    expect(call.commands('respond')).toEqual([])
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toEqual([
      expect.objectContaining({ instructions: expect.stringContaining('say it again') }),
    ])
  })
})

describe('A text', () => {
  it('is such words in any number and order, whatever their signs and case, and nothing else', () => {
    const phrases = ['uh-huh', 'right', 'all right']
    for (const text of ['Uh-huh.', 'right', 'ALL RIGHT, right!']) expect(isBackchannel(text, phrases)).toBe(true)
    for (const text of ['', '…', 'all', 'right now', 'huh uh']) expect(isBackchannel(text, phrases)).toBe(false)
    expect(isBackchannel('right', [])).toBe(false)
    expect(isBackchannel('right', ['!?'])).toBe(false)
  })

  it('is known for such words or not in no time, in however many ways they make up others, and however many they are', () => {
    const phrases = ['uh', 'huh', 'uh huh']
    const said = (pairs: number) => `${'uh huh '.repeat(pairs)}stop`
    expect(growth((pairs) => isBackchannel(said(pairs), phrases), 20)).toBeLessThan(2)
    expect(isBackchannel('uh huh '.repeat(50_000), phrases)).toBe(true)
  })
})

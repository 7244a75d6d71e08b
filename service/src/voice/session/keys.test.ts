import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const DISCLOSURE = { text: 'You are talking to a machine.', ms: 2_000, kind: 'disclosure' } as const

function press(call: Call, digits: string): void {
  for (const digit of digits) call.do({ type: 'dtmf', digit })
}

describe('Keys', () => {
  it('are told to the model as one message, which is answered', () => {
    const call = Call.greeted()
    press(call, '5550123#')
    expect(call.commands('system_message')).toEqual([
      { type: 'system_message', text: 'The caller pressed these keys: 5550123' },
    ])
    expect(call.commands('respond')).toHaveLength(2)
    expect(call.notes('digits')).toEqual([{ type: 'digits', digits: '5550123' }])
  })

  it('are an entry after a pause, too, or when there are as many as there may be', () => {
    const call = Call.greeted({ dtmf: { maxDigits: 4, endKey: '#', timeoutMs: 3_000 } })
    press(call, '12')
    call.wait(2_900)
    expect(call.commands('system_message')).toEqual([])
    call.wait(100)
    press(call, '12345')
    expect(call.commands('system_message').map(({ text }) => text.split(': ')[1])).toEqual(['12', '1234'])
  })

  describe('behind as many as there may be', () => {
    const filled = (maxDigits = 4) => {
      const call = Call.greeted({ dtmf: { maxDigits, endKey: '#', timeoutMs: 3_000 } })
      press(call, '1234'.slice(0, maxDigits))
      call.answer('resp_1', 'item_1', 6_000)
      return call
    }
    const told = (call: Call) => call.commands('system_message').map(({ text }) => text.split(': ')[1])

    it('are no entry where they are the end key alone, which does not stop the answer', () => {
      const call = filled()
      call.wait(1_000)
      press(call, '#')
      expect(told(call)).toEqual(['1234'])
      expect(call.all('clear')).toHaveLength(0)
      press(call, '#')
      expect(told(call)).toEqual(['1234', '#'])
    })

    it('are one after a pause, or with other keys', () => {
      const call = filled()
      call.wait(3_000)
      press(call, '#')
      press(call, '12345#')
      expect(told(call)).toEqual(['1234', '#', '1234', '5'])
    })

    it('are one where an entry is of one key, which nobody ends', () => {
      const call = filled(1)
      press(call, '#')
      expect(told(call)).toEqual(['1', '#'])
    })
  })

  it('stop the agent at the first of them, and it says nothing until the entry is there', () => {
    const call = Call.greeted()
    call.says('turn_1', 500)
    call.answer('resp_1', 'item_1', 6_000)
    call.wait(1_000)
    press(call, '5')
    expect(call.all('clear')).toHaveLength(1)
    call.says('turn_2', 500)
    expect(call.commands('respond')).toHaveLength(2)
    press(call, '#')
    expect(call.commands('respond')).toHaveLength(3)
  })

  it('are an entry after a pause without cutting off what a supervisor has the caller told meanwhile', () => {
    const call = Call.greeted()
    press(call, '5')
    call.do({ type: 'say', text: 'Mind the step.' })
    call.answer('resp_say', 'item_say', 4_000, 'Mind the step.')
    call.wait(4_000)
    call.echoAll()
    expect(call.turns.find(({ itemId }) => itemId === 'item_say')).toMatchObject({ interrupted: false, heardMs: 4_000 })
    expect(call.commands('respond')).toHaveLength(3)
  })

  it.each([
    ['the caller hangs up', (call: Call) => call.do({ type: 'hung_up' })],
    ['a supervisor ends the call', (call: Call) => call.do({ type: 'end', reason: 'supervisor' })],
  ])('are in the record, and not answered, when %s in the middle of an entry', (_how, end) => {
    const call = Call.greeted()
    press(call, '42')
    end(call)
    call.wait(5_000)
    expect(call.turns.at(-1)).toMatchObject({ role: 'system', text: 'The caller pressed these keys: 42' })
    expect([call.notes('digits'), call.commands('system_message')]).toEqual([[{ type: 'digits', digits: '42' }], []])
  })

  it('are in the record when the call is put through in the middle of an entry', () => {
    const call = Call.greeted()
    call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: false })
    press(call, '42')
    call.do({ type: 'transfer_sent' })
    call.do({ type: 'stream_stopped' })
    call.wait(4_000)
    call.do({ type: 'transferred' })
    expect(call.turns.map(({ text }) => text)).toContain('The caller pressed these keys: 42')
  })

  it('are a part of the record and of what a new model session is told', () => {
    const call = Call.greeted()
    press(call, '42#')
    expect(call.turns.at(-1)).toMatchObject({ role: 'system', text: 'The caller pressed these keys: 42' })
    call.model({ type: 'closed', code: '', message: '', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toContain('system: The caller pressed these keys: 42')
  })

  it('say that the caller is there', () => {
    const call = Call.greeted()
    call.wait(9_000)
    press(call, '1')
    call.wait(2_500)
    expect(call.commands('respond')).toHaveLength(1)
  })

  it('that complete an entry end the silence: it is counted anew from the end of their answer', () => {
    for (const digits of ['#', '12#', '1234']) {
      const call = Call.greeted({ dtmf: { maxDigits: 4, endKey: '#', timeoutMs: 3_000 } })
      call.wait(9_000)
      press(call, digits)
      call.wait(1_500)
      call.answer('resp_1', 'item_1', 2_000)
      call.wait(11_900)
      expect([call.commands('respond').length, call.state.idleStage]).toEqual([2, 0])
      call.wait(100)
      expect(call.commands('respond')).toHaveLength(3)
    }
  })

  it('mean nothing in a call that is ending', () => {
    const call = Call.greeted()
    call.do({ type: 'end', reason: 'shutdown' })
    press(call, '1#')
    expect(call.commands('system_message')).toEqual([])
  })

  it('are told to a model that is being connected, and answered once it has greeted', () => {
    const call = new Call()
    press(call, '1')
    call.wait(3_000)
    press(call, '2#')
    const told = ['The caller pressed these keys: 1', 'The caller pressed these keys: 2']
    expect(call.commands('system_message').map(({ text }) => text)).toEqual(told)
    expect(call.turns.map(({ text }) => text)).toEqual(told)
    call.model({ type: 'ready' })
    call.answer('resp_greeting', 'item_greeting', 1_000)
    expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
      ...[expect.stringContaining('Welcome.'), null],
    ])
  })

  it('are waited for where the model is ready before the entry is whole', () => {
    const call = new Call()
    press(call, '1')
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toEqual([])
    call.wait(3_000)
    expect([call.commands('system_message').length, call.commands('respond').length]).toEqual([1, 1])
  })

  it('are answered behind the greeting, which is heard, where they are pressed just before it', () => {
    const call = new Call()
    call.model({ type: 'ready' })
    call.wait(300)
    press(call, '0')
    call.wait(700)
    call.answer('resp_greeting', 'item_greeting', 5_000)
    call.wait(2_500)
    expect(call.commands('system_message').map(({ text }) => text)).toEqual(['The caller pressed these keys: 0'])
    expect([call.commands('cancel'), call.all('clear')]).toEqual([[], []])
    expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
      ...[expect.stringContaining('Welcome.'), null],
    ])
    press(call, '1')
    expect(call.all('clear')).toHaveLength(1)
  })

  it('at which a greeting is cut short that discloses the machine have that said again, unless it was heard', () => {
    const disclosure = 'You are talking to a machine.'
    const heardFor = (ms: number) => {
      const call = new Call({ greeting: `${disclosure} Welcome to us.`, disclosure })
      call.model({ type: 'ready' })
      call.answer('resp_greeting', 'item_greeting', 3_000, `${disclosure} Welcome to us.`)
      call.wait(ms)
      press(call, '1')
      return call.commands('system_message').map(({ text }) => text)
    }
    const again = [`Before anything else say exactly this sentence, which was cut short: ${disclosure}`]
    expect([heardFor(0), heardFor(800), heardFor(2_500)]).toEqual([again, again, []])
  })

  it('stop neither what the law wants said before the greeting nor the greeting that the model was asked for', () => {
    for (const pressedMs of [0, 150, 900, 1_900, 2_000, 2_300]) {
      const call = new Call({ clips: [DISCLOSURE] })
      call.wait(Math.min(100, pressedMs))
      call.model({ type: 'ready' })
      call.wait(pressedMs - call.nowMs)
      press(call, '1')
      if (call.nowMs < 2_400) call.wait(2_400 - call.nowMs)
      call.answer('resp_1', 'item_1', 3_000, 'Welcome.')
      call.wait(4_000)
      call.echoAll()
      expect([call.commands('cancel'), call.all('clear')]).toEqual([[], []])
      const pressed = 'The caller pressed these keys: 1'
      expect(
        call.turns
          .filter(({ unheard }) => unheard === '')
          .map(({ text }) => text)
          .sort(),
      ).toEqual([...[pressed, 'Welcome.', DISCLOSURE.text]])
      expect(call.commands('respond').map(({ instructions }) => instructions)).toEqual([
        ...[expect.stringContaining('Welcome.'), null],
      ])
      expect(call.commands('system_message').map(({ text }) => text)).toEqual([pressed])
    }
  })

  it('stop no greeting from a clip behind what the law wants said, but for one that is pressed while it sounds', () => {
    const call = new Call({ clips: [DISCLOSURE, { text: 'Welcome to us.', ms: 4_000, kind: 'greeting' }] })
    call.model({ type: 'ready' })
    call.wait(500)
    press(call, '1')
    call.wait(3_500)
    expect([call.commands('system_message').length, call.all('clear')]).toEqual([1, []])
    press(call, '2')
    expect([call.all('clear').length, call.turns[0]?.text]).toEqual([1, DISCLOSURE.text])
  })

  it('stop no greeting that is to sound behind the beep of a recording', () => {
    const call = new Call({ recordBeep: true, clips: [{ text: 'Welcome to us.', ms: 4_000, kind: 'greeting' }] })
    expect(call.all('beep')).toHaveLength(1)
    press(call, '1')
    expect(call.all('clear')).toHaveLength(0)
  })

  it('are told to the next model session where the first does not come', () => {
    const call = new Call()
    press(call, '1#')
    call.model({ type: 'closed', code: '', message: '', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toBe('system: The caller pressed these keys: 1')
  })

  it('alone, the end key is told as itself', () => {
    const call = Call.greeted()
    press(call, '#')
    expect(call.commands('system_message').at(-1)?.text).toBe('The caller pressed these keys: #')
  })
})

describe('A supervisor', () => {
  it('speaks through the agent, also over a caller who is speaking', () => {
    const call = Call.greeted()
    call.speaks('turn_1', 500)
    call.do({ type: 'say', text: 'Please hold the line.' })
    expect(call.commands('respond').at(-1)?.instructions).toContain('Please hold the line.')
  })

  it('whispers to the agent alone, and the record says so', () => {
    const call = Call.greeted()
    call.do({ type: 'whisper', text: 'Offer a discount.' })
    expect(call.commands('system_message')).toEqual([{ type: 'system_message', text: 'Offer a discount.' }])
    expect(call.commands('respond')).toHaveLength(1)
    const turn = call.turns.at(-1)
    expect(turn).toMatchObject({ role: 'supervisor', text: 'Offer a discount.' })
    // By that whoever reads it knows that the caller has not heard it.
    expect(turn?.endMs).toBe(turn?.startMs)
  })
})

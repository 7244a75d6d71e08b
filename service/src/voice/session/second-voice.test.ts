import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Call, kinds } from './call.fixture.ts'
import {
  agentTurns,
  asked,
  fails,
  MS_PER_CHAR,
  says,
  secondCall,
  sounds,
  tell,
  told,
  writes,
} from './second-voice.fixture.ts'

describe('an answer in the second voice', () => {
  it('is asked for as text while its stream is opened, and spoken word by word as it is written', () => {
    const call = new Call({ secondVoice: true })
    expect(kinds(call.model({ type: 'ready' })).slice(-4, -1)).toEqual(['open_voice', 'respond', 'arm'])
    expect(asked(call)).toEqual([{ instructions: expect.any(String), output: 'text' }])
    writes(call, 'r1', 'Hello there, caller.')
    expect(told(call)).toEqual(['Hello ', 'there, ', 'caller.'])
    expect(call.all('flush_voice')).toHaveLength(1)
    expect(call.all('end_voice')).toHaveLength(0)
    call.ends('r1')
    expect(call.all('end_voice')).toEqual([{ type: 'end_voice', id: 'voice-1' }])
    expect(call.state.secondVoice.characters).toBe('Hello there, caller.'.length)
  })

  it('is the agent speaking until all of it has become sound: the next one is asked for then', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    writes(call, 'r2', 'One moment.')
    call.ends('r2')
    call.do({ type: 'say', text: 'You are on air.' })
    expect(asked(call)).toHaveLength(2)
    sounds(call, 'r2', 'One moment.')
    expect(asked(call)).toHaveLength(2)
    tell(call, { type: 'done' })
    expect(asked(call)).toHaveLength(3)
    expect(call.all('open_voice')).toHaveLength(3)
    expect(call.timers).not.toContain('retry')
  })

  it('does not count as stalled while it is only its sound that is to come', () => {
    const call = secondCall()
    writes(call, 'r1', 'Welcome.')
    call.ends('r1')
    sounds(call, 'r1', 'Wel')
    call.wait(20_000)
    expect(call.commands('cancel')).toEqual([])
    expect(asked(call)).toHaveLength(1)
  })

  it('is kept whole when it was heard whole, and the model is told nothing', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome to the shop.')
    expect(agentTurns(call)).toEqual([{ text: 'Welcome to the shop.', unheard: '', interrupted: false }])
    expect([call.commands('delete_item'), call.commands('system_message')]).toEqual([[], []])
  })

  it('has one stream that serves the next answer when the first calls a tool without a word', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    call.begins('r2')
    call.model({ type: 'tool_call', responseId: 'r2', itemId: 'i', callId: 'k1', name: 'look_up', argumentsText: '{}' })
    call.ends('r2')
    call.do({ type: 'tool_finished', outcome: { callId: 'k1', output: '{}', status: 'ok', endsCall: false } })
    expect(asked(call).at(-1)?.output).toBe('text')
    expect(call.all('open_voice')).toHaveLength(2)
  })

  it('that says goodbye and ends the call is not followed by another goodbye', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    writes(call, 'r2', 'Goodbye.')
    call.model({
      type: 'tool_call',
      responseId: 'r2',
      itemId: 'i',
      callId: 'k1',
      name: 'end_call',
      argumentsText: '{}',
    })
    call.ends('r2')
    call.do({ type: 'tool_finished', outcome: { callId: 'k1', output: '{}', status: 'ok', endsCall: true } })
    expect(call.all('hang_up')).toEqual([])
    sounds(call, 'r2', 'Goodbye.')
    tell(call, { type: 'done' })
    call.wait(600)
    call.echoAll()
    expect(asked(call)).toHaveLength(2)
    expect(call.all('hang_up')).toHaveLength(1)
  })

  it('is written for nobody in a call that the model speaks in', () => {
    const call = Call.greeted()
    call.says('c1', 500)
    expect(call.effects.filter(({ type }) => type.endsWith('voice') || type === 'speak')).toEqual([])
    expect(call.commands('respond').some((command) => 'output' in command)).toBe(false)
  })
})

describe('a caller who interrupts the second voice', () => {
  const TEXT = 'We have chairs, tables and lamps.'

  /** The agent is speaking, all of it is on its way, and some of it was heard. */
  function speaking(heardMs: number, text = TEXT): Call {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.wait(2_000)
    call.says('c1', 500)
    writes(call, 'r2', text)
    call.ends('r2')
    sounds(call, 'r2', text)
    tell(call, { type: 'done' })
    call.wait(heardMs)
    return call
  }

  it('has heard the words that the alignment says, and the model is told them in place of its own', () => {
    // "We have chairs," is 15 characters; 200 ms pass until the caller is taken to mean it.
    const call = speaking(15 * MS_PER_CHAR + 30 - 200)
    call.speaks('c2', 400)
    expect(agentTurns(call).at(-1)).toEqual({
      text: 'We have chairs,',
      unheard: 'tables and lamps.',
      interrupted: true,
    })
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_r2' }])
    expect(call.commands('system_message').at(-1)?.text).toMatch(/hears only this of it: We have chairs,$/)
    expect(call.commands('truncate')).toEqual([])
    expect(call.notes('interrupted')).toHaveLength(1)
  })

  it('has heard words of a language without blanks between them, too', () => {
    const call = speaking(9 * MS_PER_CHAR + 30 - 200, '火曜日から日曜日まで営業しております。')
    call.speaks('c2', 400)
    expect(agentTurns(call).at(-1)).toMatchObject({ text: '火曜日から日曜日', unheard: 'まで営業しております。' })
    expect(call.commands('system_message').at(-1)?.text).toMatch(/hears only this of it: 火曜日から日曜日$/)
  })

  it('may have heard nothing: a later model session, which was told all of it, is told so', () => {
    const call = speaking(0)
    call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' })
    call.model({ type: 'ready' })
    call.do({ type: 'mute' })
    expect(call.commands('delete_item')).toEqual([])
    expect(call.commands('system_message').at(-1)?.text).toMatch(/has heard nothing of: We have chairs/)
  })

  it('stops the stream at once, drops the rest of the text, and is answered', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.wait(2_000)
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    sounds(call, 'r2', 'We have ')
    call.wait(200)
    call.speaks('c2', 400)
    expect(call.all('cut_voice')).toEqual([{ type: 'cut_voice', id: 'voice-2' }])
    expect(call.all('discard').at(-1)?.responseIds).toEqual(['r2'])
    expect(call.commands('cancel')).toEqual([{ type: 'cancel', responseId: 'r2' }])
    expect(agentTurns(call).at(-1)).toMatchObject({ text: 'We have', unheard: 'chairs, tables and lamps.' })
    call.ends('r2', { status: 'cancelled' })
    call.stops('c2')
    expect(asked(call)).toHaveLength(3)
  })

  it('cancels nothing at a model that is done, and is answered all the same', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.wait(2_000)
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    call.ends('r2')
    sounds(call, 'r2', 'We have ')
    call.wait(100)
    call.says('c2', 400)
    expect(call.commands('cancel')).toEqual([])
    expect(call.all('cut_voice')).toHaveLength(1)
    expect(asked(call)).toHaveLength(3)
  })

  it('leaves nothing of an answer of which nothing was heard', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.wait(2_000)
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    call.says('c2', 400)
    call.ends('r2', { status: 'cancelled' })
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_r2' }])
    expect(agentTurns(call)).toHaveLength(1)
    expect(call.commands('system_message')).toEqual([])
  })
})

/** Things that happen to a call, in any order: to whom they make no sense they change nothing. */
const HAPPENINGS: Record<string, (call: Call, count: number) => void> = {
  begins: (call, count) => call.begins(`r${count}`),
  writes: (call) => {
    const responseId = call.state.answers.active?.responseId ?? 'r0'
    const text = 'Some words more. '
    call.model({ type: 'agent_text', responseId, itemId: `item_${responseId}`, text, final: false })
  },
  ends: (call) => call.ends(call.state.answers.active?.responseId ?? 'r0'),
  sounds: (call) => {
    const { stream } = call.state.secondVoice
    if (stream?.of) sounds(call, stream.of.responseId, 'Some words ')
  },
  done: (call) => void tell(call, { type: 'done' }),
  fails: (call) => void fails(call),
  idle: (call) => void fails(call, 'idle'),
  speaks: (call, count) => call.says(`c${count}`, 400),
  lost: (call) => void call.model({ type: 'closed', code: '1006', message: '', fault: 'retry' }),
  ready: (call) => void call.model({ type: 'ready' }),
  mute: (call) => void call.do({ type: 'mute' }),
  unmute: (call) => void call.do({ type: 'unmute' }),
  says: (call) => void call.do({ type: 'say', text: 'Hello.' }),
  detached: (call) => void call.do({ type: 'stream_lost' }),
  attached: (call) => void call.do({ type: 'attached' }),
  waits: (call) => call.wait(700),
  echoes: (call) => call.echoAll(),
}

describe('any call in the second voice', () => {
  it('has one stream at a time, speaks to none that is over, and ends with none', () => {
    const happening = fc.constantFrom(...Object.keys(HAPPENINGS))
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), (names) => {
        const call = secondCall()
        for (const [count, name] of names.entries()) HAPPENINGS[name]?.(call, count + 1)
        call.do({ type: 'hung_up' })
        call.wait(20_000)
        expect(call.state.phase).toBe('ended')
        expect(call.state.secondVoice.stream?.of ?? null).toBeNull()
        let open: string | null = null
        for (const effect of call.effects) {
          if (effect.type === 'open_voice') open = effect.id
          if (effect.type === 'speak' || effect.type === 'flush_voice' || effect.type === 'end_voice') {
            expect(effect.id).toBe(open)
          }
          if (effect.type === 'cut_voice') open = null
        }
      }),
      { numRuns: 300 },
    )
  })
})

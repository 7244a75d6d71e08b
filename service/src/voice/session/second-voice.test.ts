import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { VoiceEvent, VoiceFault } from '../../platform/speech/streamed-port.ts'
import { Call, kinds } from './call.fixture.ts'
import type { SessionEffect } from './events.ts'

const MS_PER_CHAR = 50

/** A call that the secondary provider speaks in: its model is ready, and was asked for the greeting. */
function secondCall(): Call {
  const call = new Call({ secondVoice: true })
  call.model({ type: 'ready' })
  return call
}

function tell(call: Call, event: VoiceEvent): SessionEffect[] {
  return call.do({ type: 'voice', id: `voice-${call.state.secondVoice.count}`, event })
}

/** The model writes, a word at a time. */
function writes(call: Call, responseId: string, text: string): void {
  const itemId = `item_${responseId}`
  call.begins(responseId)
  call.model({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
  for (const word of text.match(/\S+\s*/gu) ?? []) {
    call.model({ type: 'agent_text', responseId, itemId, text: word, final: false })
  }
  call.model({ type: 'agent_text', responseId, itemId, text, final: true })
}

/** The provider speaks these characters, each of 50 ms. */
function sounds(call: Call, responseId: string, text: string, fromMs = 0): void {
  const endsMs = [...text].map((_, at) => fromMs + (at + 1) * MS_PER_CHAR)
  tell(call, { type: 'spoken', text, endsMs })
  call.audio(responseId, `item_${responseId}`, text.length * MS_PER_CHAR)
}

/** A whole answer, spoken and heard. */
function says(call: Call, responseId: string, text: string): void {
  writes(call, responseId, text)
  call.ends(responseId)
  sounds(call, responseId, text)
  tell(call, { type: 'done' })
  call.wait(text.length * MS_PER_CHAR)
  call.echoAll()
}

function fails(call: Call, why: VoiceFault = 'lost'): SessionEffect[] {
  return tell(call, { type: 'failed', why, message: '' })
}

const told = (call: Call) => call.all('speak').map(({ text }) => text)
const asked = (call: Call) => call.commands('respond').map(({ instructions, output }) => ({ instructions, output }))
const agentTurns = (call: Call) =>
  call.turns
    .filter(({ role }) => role === 'agent')
    .map(({ text, unheard, interrupted }) => ({ text, unheard, interrupted }))

describe('an answer in the second voice', () => {
  it('is asked for as text while its stream is opened, and spoken word by word as it is written', () => {
    const call = new Call({ secondVoice: true })
    expect(kinds(call.model({ type: 'ready' })).slice(-3)).toEqual(['open_voice', 'respond', 'arm'])
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
  function speaking(heardMs: number): Call {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.wait(2_000)
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    call.ends('r2')
    sounds(call, 'r2', TEXT)
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

describe('a second voice that fails', () => {
  const TEXT = 'We have chairs, tables and lamps.'
  const REST = 'Say exactly this, and nothing else: tables and lamps.'

  it('before a word was written is not waited for: the answer is asked for as audio', () => {
    const call = secondCall()
    fails(call, 'handshake')
    call.begins('r1')
    expect(call.commands('cancel')).toHaveLength(1)
    call.ends('r1', { status: 'cancelled' })
    const [first, second] = asked(call)
    expect(second).toEqual({ instructions: first?.instructions, output: 'audio' })
    expect(call.notes('voice_lost')).toHaveLength(1)
  })

  it('before the last words of the longest call leaves them to be said by the model', () => {
    const call = new Call({
      secondVoice: true,
      maxCallMs: 50_000,
      idle: { afterMs: 600_000, prompts: [], goodbye: '' },
    })
    call.model({ type: 'ready' })
    says(call, 'r1', 'Welcome.')
    call.wait(50_000)
    const { instructions } = asked(call).at(-1) ?? {}
    expect(instructions).toContain('goodbye')
    fails(call, 'handshake')
    call.begins('r2')
    call.ends('r2', { status: 'cancelled' })
    expect(call.state.ending).toBeNull()
    expect(asked(call).at(-1)).toEqual({ instructions, output: 'audio' })
    call.answer('r3', 'item_r3', 500)
    call.wait(500)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  })

  it.each(['before', 'after'])('%s the agent puts the call through has it say first what it was asked for', (when) => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    if (when === 'before') fails(call, 'handshake')
    call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: true })
    if (when === 'after') fails(call, 'handshake')
    call.begins('r2')
    call.ends('r2', { status: 'cancelled' })
    expect(asked(call).at(-1)?.output).toBe('audio')
    call.answer('r3', 'item_r3', 500)
    expect(call.all('begin_transfer')).toEqual([])
    call.wait(500)
    call.echoAll()
    expect(call.all('begin_transfer')).toHaveLength(1)
  })

  it('in the middle of an answer is heard out, and the model says the rest, word for word', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    sounds(call, 'r2', 'We have chairs, ')
    fails(call)
    expect(asked(call)).toHaveLength(2)
    call.ends('r2')
    expect(asked(call).at(-1)).toEqual({ instructions: REST, output: 'audio' })
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_r2' }])
    expect(call.commands('system_message').at(-1)?.text).toMatch(/: We have chairs,$/)
    expect([call.all('clear'), call.all('discard')]).toEqual([[], []])
    call.answer('r3', 'item_r3', 900, 'tables and lamps.')
    call.wait(3_000)
    call.echoAll()
    expect(
      agentTurns(call)
        .slice(-2)
        .map(({ text }) => text),
    ).toEqual(['We have chairs,', 'tables and lamps.'])
    expect(agentTurns(call).every(({ unheard, interrupted }) => unheard === '' && !interrupted)).toBe(true)
  })

  it('after the model was done is gone on from at once', () => {
    const call = secondCall()
    writes(call, 'r1', TEXT)
    call.ends('r1')
    sounds(call, 'r1', 'We have chairs, ')
    fails(call, 'silent')
    expect(asked(call).at(-1)).toEqual({ instructions: REST, output: 'audio' })
  })

  it('in the middle of a word has the whole word said again, for nobody has heard it', () => {
    const call = secondCall()
    writes(call, 'r1', TEXT)
    call.ends('r1')
    sounds(call, 'r1', 'We have chairs, tab')
    fails(call)
    expect(asked(call).at(-1)?.instructions).toBe(REST)
  })

  it('of whose audio nobody was told what it says is taken to speak at a usual pace', () => {
    const call = secondCall()
    writes(call, 'r1', TEXT)
    call.ends('r1')
    call.audio('r1', 'item_r1', 13 * 80)
    fails(call)
    expect(asked(call).at(-1)?.instructions).toBe(REST)
  })

  it('without having made a sound has all of it said, as what it was', () => {
    const call = secondCall()
    writes(call, 'r1', 'Welcome.')
    call.ends('r1')
    fails(call, 'silent')
    expect(asked(call).at(-1)).toEqual({
      instructions: 'Say exactly this, and nothing else: Welcome.',
      output: 'audio',
    })
    call.answer('r2', 'item_r2', 500, 'Welcome.')
    call.wait(1_000)
    call.echoAll()
    expect(agentTurns(call).map(({ text }) => text)).toEqual(['Welcome.'])
    expect(call.state.latency.greetingMs).not.toBeNull()
  })

  it('in the last words before the call is put through has the model say the rest of them first', () => {
    const call = secondCall()
    writes(call, 'r1', 'One moment, I put you through.')
    call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: false, isAgents: true })
    sounds(call, 'r1', 'One moment, ')
    call.ends('r1')
    fails(call)
    expect(asked(call).at(-1)).toEqual({
      instructions: 'Say exactly this, and nothing else: I put you through.',
      output: 'audio',
    })
    call.wait(600)
    call.echoAll()
    expect(call.all('begin_transfer')).toEqual([])
    call.answer('r2', 'item_r2', 500, 'I put you through.')
    call.wait(600)
    call.echoAll()
    expect(call.all('begin_transfer')).toHaveLength(1)
  })

  it('is not taken up again in the call', () => {
    const call = secondCall()
    fails(call, 'circuit_open')
    call.begins('r1')
    call.ends('r1', { status: 'cancelled' })
    call.answer('r2', 'item_r2', 500)
    call.wait(3_000)
    call.echoAll()
    call.says('c1', 500)
    expect(asked(call).at(-1)?.output).toBe('audio')
    expect(call.all('open_voice')).toHaveLength(1)
  })

  it('because it says that it is done before the answer is has failed too', () => {
    const call = secondCall()
    writes(call, 'r1', TEXT)
    sounds(call, 'r1', 'We have chairs, ')
    tell(call, { type: 'done' })
    call.ends('r1')
    expect(asked(call).at(-1)?.instructions).toBe(REST)
  })

  it('has failed when its stream was closed unused while words were on their way to it', () => {
    const call = secondCall()
    writes(call, 'r1', 'Welcome.')
    fails(call, 'idle')
    call.ends('r1')
    expect(asked(call).at(-1)?.instructions).toBe('Say exactly this, and nothing else: Welcome.')
    expect(call.notes('voice_lost')).toHaveLength(1)
  })

  it('has not failed when a stream that nobody used was closed', () => {
    const call = secondCall()
    fails(call, 'idle')
    writes(call, 'r1', 'Welcome.')
    expect(call.all('open_voice')).toHaveLength(2)
    expect(told(call)).toEqual(['Welcome.'])
    expect(call.notes('voice_lost')).toEqual([])
  })
})

describe('a model session that is lost under the second voice', () => {
  const lost = { type: 'closed', code: '1006', message: '', fault: 'retry' } as const

  it('after its answer was written does not stop the voice, and nothing is said twice', () => {
    const call = secondCall()
    writes(call, 'r1', 'Welcome to the shop.')
    call.ends('r1')
    sounds(call, 'r1', 'Welcome ')
    call.model(lost)
    call.model({ type: 'ready' })
    expect(call.all('cut_voice')).toEqual([])
    expect(call.all('open_model').at(-1)?.history).toBe('agent: Welcome to the shop.')
    sounds(call, 'r1', 'to the shop.', 8 * MS_PER_CHAR)
    tell(call, { type: 'done' })
    expect(asked(call)).toHaveLength(1)
  })

  it('in the middle of its answer has the next one go on where the voice has come to', () => {
    const call = secondCall()
    call.begins('r1')
    call.model({ type: 'agent_text', responseId: 'r1', itemId: 'item_r1', text: 'Welcome to the ', final: false })
    sounds(call, 'r1', 'Welcome ')
    call.model(lost)
    expect(call.all('open_model').at(-1)?.history).toBe('agent: Welcome')
    call.model({ type: 'ready' })
    expect(asked(call).at(-1)?.instructions).toMatch(/^You were cut off in the middle/)
    expect(call.all('cut_voice')).toHaveLength(1)
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

import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'
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

  it('leaves words that the model is told of anew where they are cut short, and that it is told to forget once', () => {
    const call = secondCall()
    says(call, 'r1', 'Welcome.')
    call.says('c1', 500)
    writes(call, 'r2', TEXT)
    sounds(call, 'r2', 'We have chairs, ')
    call.ends('r2')
    fails(call)
    call.speaks('c2', 400)
    expect(call.commands('delete_item')).toEqual([{ type: 'delete_item', itemId: 'item_r2' }])
    expect(call.commands('system_message').map(({ text }) => text.split(': ').at(-1))).toEqual([
      'We have chairs,',
      'We have',
    ])
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

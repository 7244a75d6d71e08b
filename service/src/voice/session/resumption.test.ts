import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'
import { type PastToolCall, type PastTurn, resumedTranscript } from './resumption.ts'

function turn(seq: number, role: PastTurn['role'], text: string, unheard = ''): PastTurn {
  return { seq, role, text, unheard }
}

const GREETED = [turn(1, 'agent', 'Welcome.'), turn(2, 'caller', 'What do chairs cost?')]

type Told = { maxCallMs?: number; isRecordingPaused?: boolean; toolCalls?: PastToolCall[] }

function resumed(
  turns: PastTurn[],
  { maxCallMs = 1_800_000, isRecordingPaused = false, toolCalls = [] }: Told = {},
): Call {
  const usage = { inputTokens: 10, outputTokens: 20, cachedTokens: 0, audioSeconds: 5 }
  const facts = {
    elapsedMs: 60_000,
    usage,
    greetingMs: 400,
    interruptions: 2,
    idBase: 1_000,
    isRecordingPaused,
    toolCalls,
  }
  return new Call({ maxCallMs, idle: { afterMs: 600_000, prompts: [], goodbye: '' } }, { ...facts, turns })
}

describe('A call that another process has begun', () => {
  it('tells its model what was said, and does not greet again', () => {
    const call = resumed(GREETED)
    expect(call.all('open_model')).toMatchObject([
      { epoch: 1_001, history: 'agent: Welcome.\ncaller: What do chairs cost?' },
    ])
    call.model({ type: 'ready' })
    expect(call.state.phase).toBe('talking')
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*answer/) }])
  })

  it.each([
    ['heard', turn(3, 'agent', 'One moment, please.')],
    ['cut short', turn(3, 'agent', 'One moment', ', please.')],
  ])(
    'answers what the caller said last behind which only a wait was bridged, by a clip that was %s',
    (_how, filler) => {
      const clips = [{ kind: 'filler' as const, text: 'One moment, please.', ms: 1_000 }]
      const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
      const facts = { elapsedMs: 60_000, usage, greetingMs: 400, interruptions: 0, idBase: 1_000 }
      const call = new Call({ clips }, { ...facts, turns: [...GREETED, filler] })
      call.model({ type: 'ready' })
      expect(call.commands('respond')).toMatchObject([
        { instructions: expect.stringMatching(/answer what the caller/) },
      ])
    },
  )

  it('tells its model where it was which tools were called, what they answered, and of which that is not known', () => {
    const called = (name: string, result: string | null, afterTurns: number): PastToolCall => {
      return { name, argumentsText: `{"for":"${'x'.repeat(600)}"}`, result, afterTurns }
    }
    const toolCalls = [called('who_is', '"Ann"', 0), called('price_of', '"y'.repeat(300), 2), called('refund', null, 2)]
    const [opened] = resumed(GREETED, { toolCalls }).all('open_model')
    const asked = `{"for":"${'x'.repeat(492)}`
    expect(opened?.history?.split('\n')).toEqual([
      `system: The tool who_is was called with ${asked}`,
      'system: The tool who_is has answered: "Ann"',
      'agent: Welcome.',
      'caller: What do chairs cost?',
      `system: The tool price_of was called with ${asked}`,
      `system: The tool price_of has answered: ${'"y'.repeat(250)}`,
      `system: The tool refund was called with ${asked}`,
      expect.stringMatching(/^system: The tool refund has not answered: it is not known .* Do not call it again/),
    ])
  })

  it('tells its model nothing of what was not written down, and has the caller say it again that they said last', () => {
    const call = resumed([...GREETED, turn(3, 'agent', 'Ten each.'), turn(4, 'caller', '')])
    const history = 'agent: Welcome.\ncaller: What do chairs cost?\nagent: Ten each.'
    expect(call.all('open_model')).toMatchObject([{ history }])
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*say it again/) }])
  })

  it('tells its model the newest of hours of it, and looks through little more', () => {
    let read = 0
    const turns = Array.from(
      { length: 2_500 },
      (_, at): PastTurn => ({
        ...{ seq: at + 1, role: 'caller', unheard: '' },
        get text() {
          read += 1
          return `${at} ${'words '.repeat(50)}`
        },
      }),
    )
    const toolCalls = [{ name: 'look_up', argumentsText: '{"id":7}', result: '{"found":true}', afterTurns: 2_499 }]
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
    const facts = { elapsedMs: 1, usage, greetingMs: 400, interruptions: 0, idBase: 1_000 }
    const { text } = resumedTranscript({ ...facts, turns, toolCalls }).past
    expect(text.length).toBeGreaterThan(23_000)
    expect(text.length).toBeLessThanOrEqual(24_000)
    expect(text.split('\n').slice(-5, -1)).toEqual([
      expect.stringMatching(/^caller: 2498 /),
      'system: The tool look_up was called with {"id":7}',
      'system: The tool look_up has answered: {"found":true}',
      expect.stringMatching(/^caller: 2499 /),
    ])
    expect(read).toBeLessThan(200)
  })

  it('goes on with what was cut off, and asks on where nothing is owed', () => {
    const cut = resumed([...GREETED, turn(3, 'agent', 'They cost', 'ten each.')])
    cut.model({ type: 'ready' })
    expect(cut.commands('respond')[0]?.instructions).toMatch(/sorry.*go on from where.*not heard: ten each\.$/)
    const whole = resumed([...GREETED, turn(3, 'agent', 'They cost ten each.')])
    whole.model({ type: 'ready' })
    expect(whole.commands('respond')[0]?.instructions).toMatch(/sorry.*ask the caller/)
  })

  it('answers keys that were pressed before it, which are what the caller said last', () => {
    const pressed = turn(4, 'system', 'The caller pressed these keys: 5550123')
    const call = resumed([...GREETED, turn(3, 'agent', 'Which', 'number do you call from?'), pressed])
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*answer what/) }])
    const answered = resumed([...GREETED, pressed, turn(5, 'agent', 'Thank you.')])
    answered.model({ type: 'ready' })
    expect(answered.commands('respond')[0]?.instructions).toMatch(/sorry.*ask the caller briefly to go on/)
  })

  it('says what a tool has told of which the agent was to speak, also where it had said that it would look', () => {
    const looked = [...GREETED, turn(3, 'agent', 'One moment, I will', 'look.')]
    const of = (isOwed: boolean) => [{ name: 'price_of', argumentsText: '{}', result: '"ten"', afterTurns: 3, isOwed }]
    const call = resumed(looked, { toolCalls: of(true) })
    call.model({ type: 'ready' })
    expect(call.commands('respond')[0]?.instructions).toMatch(/sorry.*answer what.* your tools have told/)
    const told = resumed(looked, { toolCalls: of(false) })
    told.model({ type: 'ready' })
    expect(told.commands('respond')[0]?.instructions).toMatch(/sorry.*go on from where/)
  })

  it('answers the keys that were pressed while its model was being connected, once', () => {
    const call = resumed([...GREETED, turn(3, 'agent', 'They cost', 'ten each.')])
    for (const digit of ['1', '#']) call.do({ type: 'dtmf', digit })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 1_000)
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*answer/) }])
  })

  it('is silent until the person had time to come back who had it, and then is sorry', () => {
    const taken = [...GREETED, turn(3, 'system', 'A person has taken the call over.'), turn(4, 'supervisor', 'Hello.')]
    const call = resumed(taken)
    call.model({ type: 'ready' })
    expect(call.state.takeover).toEqual({ phase: 'lost' })
    call.wait(7_900)
    expect(call.commands('respond')).toEqual([])
    call.wait(200)
    expect(call.commands('respond')).toMatchObject([
      { instructions: expect.stringContaining('so you have the call again') },
    ])
    const back = resumed(taken)
    back.model({ type: 'ready' })
    expect(back.do({ type: 'take_over' })).toContainEqual({ type: 'connect_person', id: 'own-person-1' })
    back.wait(20_000)
    expect(back.commands('respond')).toEqual([])
    const given = resumed([...taken, turn(5, 'system', 'The agent has the call again.')])
    given.model({ type: 'ready' })
    expect(given.commands('respond')).toHaveLength(1)
  })

  it('is picked up, or left to the person who had it, also where its stream is lost before its model is ready', () => {
    const call = resumed(GREETED)
    call.do({ type: 'stream_lost' })
    call.wait(2_000)
    call.do({ type: 'attached' })
    call.do({ type: 'stream_lost' })
    call.do({ type: 'attached' })
    expect(call.commands('respond')).toEqual([])
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*answer/) }])
    const ready = resumed(GREETED)
    ready.do({ type: 'stream_lost' })
    ready.model({ type: 'ready' })
    ready.do({ type: 'attached' })
    expect(ready.commands('respond')).toMatchObject([{ instructions: expect.stringMatching(/sorry.*answer/) }])
    const taken = resumed([...GREETED, turn(3, 'system', 'A person has taken the call over.')])
    taken.do({ type: 'stream_lost' })
    taken.do({ type: 'attached' })
    taken.model({ type: 'ready' })
    expect([taken.state.takeover, taken.commands('respond')]).toEqual([{ phase: 'lost' }, []])
  })

  it('says goodbye, and nothing else, where it is lost so and no other node takes it', () => {
    const call = resumed(GREETED)
    call.do({ type: 'hand_over' })
    call.do({ type: 'kept' })
    call.do({ type: 'end', reason: 'shutdown' })
    call.model({ type: 'ready' })
    expect(call.commands('respond')).toMatchObject([{ instructions: expect.stringContaining('goodbye') }])
  })

  it('greets where nobody has said anything yet', () => {
    const call = resumed([])
    call.model({ type: 'ready' })
    expect(call.commands('respond')[0]?.instructions).toContain('Welcome.')
  })

  it('counts its turns, its time, its notes and what it costs from what there was', () => {
    const call = resumed(GREETED)
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(1_000)
    call.echoAll()
    call.do({ type: 'whisper', text: 'Offer tea.' })
    expect(call.turns).toMatchObject([
      { seq: 3, itemId: 'item_1', startMs: 60_000 },
      { seq: 4, itemId: 'note-1001' },
    ])
    expect(call.state.usage).toMatchObject({ inputTokens: 11, outputTokens: 21, audioSeconds: 6 })
    expect(call.state.latency).toMatchObject({ greetingMs: 400, interruptions: 2 })
  })

  it('is not recorded where its agent has paused that, and the model knows it', () => {
    const call = resumed(GREETED, { isRecordingPaused: true })
    expect(call.state.isRecordingPaused).toBe(true)
    expect(call.all('open_model')[0]?.history).toMatch(/chairs cost\?\nsystem: The recording of the call is paused\.$/)
    call.do({ type: 'pause_recording', isPaused: false })
    expect(call.all('pause_recording')).toEqual([{ type: 'pause_recording', isPaused: false }])
  })

  it('lasts no longer for it', () => {
    const call = resumed(GREETED, { maxCallMs: 100_000 })
    call.model({ type: 'ready' })
    call.answer('resp_1', 'item_1', 1_000)
    call.wait(31_000)
    expect(call.commands('system_message').at(-1)?.text).toContain('must end soon')
    const late = resumed(GREETED, { maxCallMs: 50_000 })
    late.model({ type: 'ready' })
    late.answer('resp_1', 'item_1', 1_000)
    late.wait(1_000)
    expect(late.commands('respond').at(-1)?.instructions).toContain('goodbye')
  })
})

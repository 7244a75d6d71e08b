import { beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { faultsOfAudio, faultsOfEnd } from './cut-check.ts'
import { GOLDEN_CALL, GOLDEN_LIMIT_MS } from './golden-call.ts'
import { World } from './world.ts'

const HOURS = 'We are open from Tuesday to Sunday, from noon until ten'
const TABLE = 'Yes, there is a table for two at the window at'

describe('The golden call', () => {
  const world = new World(GOLDEN_CALL)

  beforeAll(async () => {
    world.begin()
    await world.run(GOLDEN_LIMIT_MS)
  })

  it('has some five hundred events, any of which may be the last', () => {
    expect(world.wire.count).toBeGreaterThan(400)
  })

  it('is recorded as it was heard: greeting, four turns, two of them cut short, keys, goodbye', () => {
    expect(world.transcript.map(({ role, text, interrupted }) => [role, text, interrupted])).toEqual([
      ['agent', 'Welcome to the Blue Door. What can I do for you?', false],
      ['caller', 'What are your opening hours?', false],
      ['agent', HOURS, true],
      ['caller', 'Do you have a table for two tonight?', false],
      ['agent', TABLE, true],
      ['caller', 'Yes, book it please.', false],
      ['agent', 'I will see to that.', false],
      ['agent', 'One moment, please.', false],
      ['agent', 'Your table is booked. Please type your number and the pound key.', false],
      ['system', 'The caller pressed these keys: 5550123', false],
      ['agent', 'Thank you. Is there anything else that I can do?', false],
      ['caller', 'No, goodbye.', false],
      ['agent', 'Goodbye, and see you tonight.', false],
    ])
    expect(world.transcript.map(({ seq }) => seq)).toEqual(world.transcript.map((_, index) => index + 1))
  })

  it('knows of each utterance how much was heard, to 50 ms', () => {
    for (const { answer, itemId } of world.model.answers) {
      const turn = world.turns.get(itemId)
      expect(Math.abs((turn?.heardMs ?? 0) - world.carrier.heardMs(answer))).toBeLessThanOrEqual(50)
      expect(turn?.heardMs ?? 0).toBeLessThanOrEqual(turn?.sentMs ?? 0)
    }
  })

  it('says nothing twice and nothing that was silenced', () => {
    expect(faultsOfAudio(world)).toEqual([])
    const answers = world.carrier.heard.map(({ answer }) => answer)
    expect(answers).toEqual([...answers].sort((a, b) => a - b))
  })

  it('clears twice, and tells the model both times where it was cut', () => {
    expect(world.carrier.sent.filter(({ type }) => type === 'clear')).toHaveLength(2)
    const commands = world.model.sessions[0]?.commands ?? []
    expect(commands.filter(({ type }) => type === 'truncate')).toHaveLength(2)
    expect(world.model.offences).toEqual([])
    expect(world.session.state.latency.interruptions).toBe(2)
  })

  it('falls silent within 400 ms of the first sound of the caller who means it', () => {
    const clears = world.carrier.sent.filter(({ type }) => type === 'clear').map(({ atMs }) => atMs)
    const [, second, third] = world.caller.utterances.map(({ startMs }) => startMs)
    expect((clears[0] ?? 0) - (second ?? 0)).toBeLessThanOrEqual(400)
    expect((clears[1] ?? 0) - (third ?? 0)).toBeLessThanOrEqual(400)
  })

  it('answers every turn within a second of its end, and greets within a second of the start', () => {
    const { greetingMs, responsesMs } = world.session.state.latency
    expect(greetingMs).toBeLessThan(1_000)
    expect(responsesMs).toHaveLength(5)
    expect(Math.max(...responsesMs)).toBeLessThan(500)
  })

  it('runs the tool once, fills the wait for it, and ends the call by the other', () => {
    expect(world.toolRuns.map(({ name }) => name)).toEqual(['book_table', 'end_call'])
    expect(world.notes.flatMap((note) => (note.type === 'tool' ? [`${note.name} ${note.status}`] : []))).toEqual([
      'book_table started',
      'book_table ok',
      'end_call started',
      'end_call ok',
    ])
  })

  it('is hung up once, when the goodbye was heard to its end', () => {
    expect(world.ends).toEqual(['agent_hangup'])
    expect(world.hangUps).toBe(1)
    const goodbye = world.model.answers.at(-1)
    expect(world.carrier.heardMs(goodbye?.answer ?? 0)).toBe(world.turns.get(goodbye?.itemId ?? '')?.sentMs)
  })

  it('adds up what it cost', () => {
    const answers = world.model.answers.length
    expect(world.session.state.usage).toMatchObject({ inputTokens: 10 * answers, outputTokens: 10 * answers })
  })

  it('can be run again from its log, which says nothing of what was said', () => {
    const { steps, difference, state } = replay(world.log.read())
    expect(difference).toBeNull()
    expect(steps).toBeGreaterThan(400)
    expect(state.latency).toEqual(world.session.state.latency)
    // A timer is called after a window, too.
    const text = world.log.text.replaceAll('party_window', '')
    for (const words of ['opening', 'Tuesday', 'window', 'Blue', '5550123', 'booked'])
      expect(text.includes(words), words).toBe(false)
  })

  it('goes through its states in order and leaves nothing behind', () => {
    expect(world.notes.flatMap((note) => (note.type === 'state' ? [note.state] : []))).toEqual([
      'waiting',
      'talking',
      'draining',
      'ended',
    ])
    expect(faultsOfEnd(world)).toEqual([])
  })
})

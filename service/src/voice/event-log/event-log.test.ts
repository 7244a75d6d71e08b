import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../platform/realtime/port.ts'
import { Call, planWith } from '../session/call.fixture.ts'
import type { SessionEvent } from '../session/events.ts'
import type { Plan } from '../session/plan.ts'
import { reduce } from '../session/reduce.ts'
import type { Resumption } from '../session/resumption.ts'
import { newSession } from '../session/state.ts'
import { ChunkRooms, unpackChunks } from './chunks.ts'
import { SessionEventLog } from './event-log.ts'
import { LineWriter, type LogHead, readLines } from './lines.ts'
import { replay } from './replay.ts'
import { sketchOf } from './sketch.ts'
import { masked } from './without-words.ts'

const noted = (seq: number, text: string) => ({ role: 'system' as const, seq, text, unheard: '' })
const HEAD: LogHead = { v: 1, version: '0.1.0', startUs: 0, plan: planWith(), resumption: null }

/** A log whose bytes are kept, and what it told. */
function logging(changes: { maxChars?: number; append?: (bytes: Buffer) => Promise<void> } = {}) {
  const chunks: Buffer[] = []
  const told: string[] = []
  const log = new SessionEventLog({
    append: async (bytes) => void chunks.push(bytes),
    trouble: () => told.push('trouble'),
    closed: () => told.push('closed'),
    rooms: new ChunkRooms(),
    ...changes,
  })
  return { log, told, bytes: () => Buffer.concat(chunks) }
}

/** Runs a call of the reducer's and logs it: a question that is answered, and what happens then. */
function answered(log: Pick<SessionEventLog, 'begin' | 'step' | 'close'>, andThen = (_call: Call) => {}): void {
  const call = new Call()
  // What the fixture did before anybody listened.
  log.begin(HEAD)
  log.step(0, { type: 'opened' }, call.effects)
  const feed = call.do.bind(call)
  call.do = (event: SessionEvent) => {
    const effects = feed(event)
    log.step(Math.round(call.nowMs * 1_000), event, effects)
    return effects
  }
  call.model({ type: 'ready' })
  call.says('turn_1', 500, 'My card is 4111 1111 1111 1111.')
  call.answer('resp_1', 'item_1', 900, 'It ends with 1111.')
  call.wait(1_000)
  call.echoAll()
  andThen(call)
  log.close()
}

describe('The event log of a session', () => {
  it('tells enough to run it again with the same effects, and none of the words', async () => {
    const { log, bytes, told } = logging()
    answered(log)
    await log.written()
    const text = unpackChunks(bytes())
    expect(text).not.toMatch(/card|1111|ends with|Welcome/)
    const read = readLines(text)
    expect(read).toMatchObject({ isWhole: true, head: { version: '0.1.0' } })
    expect(replay(read)).toMatchObject({ difference: null, steps: read.steps.length })
    expect(told).toEqual(['closed'])
  })

  it('tells by what a session has ended whose call others have', async () => {
    const { log, bytes } = logging()
    answered(log, (call) => {
      call.do({ type: 'transfer', id: 't1', target: '+12025550199', isWarm: false, isAgents: false })
      call.do({ type: 'transfer_sent' })
      call.do({ type: 'stream_stopped' })
      call.do({ type: 'transferred' })
    })
    await log.written()
    expect(replay(readLines(unpackChunks(bytes())))).toMatchObject({ difference: null, endedBy: 'transferred' })
  })

  it.each(['네.', 'و', 'J.'])(
    'tells of a short answer that is a letter alone, in any writing, that it was one: %s',
    async (word) => {
      const { log, bytes } = logging()
      answered(log, (call) => {
        call.speaks('turn_2', 100)
        call.stops('turn_2')
        call.model({ type: 'caller_transcript', itemId: 'turn_2', text: word })
      })
      await log.written()
      const text = unpackChunks(bytes())
      expect(text).not.toContain(word)
      expect(replay(readLines(text)).difference).toBeNull()
    },
  )

  it('tells since when its stream was there', async () => {
    const { log, bytes } = logging()
    const opened = { type: 'opened' } as const
    const [begun, effects] = reduce(newSession(planWith(), 0, { waitedMs: 700 }), opened, 0)
    log.begin({ ...HEAD, waitedMs: 700 })
    log.step(0, opened, effects)
    log.close()
    await log.written()
    const { state } = replay(readLines(unpackChunks(bytes())))
    expect([begun.startedAtMs, state.startedAtMs]).toEqual([-700, -700])
  })

  it('tells as much of words that a second voice has spoken, and lost, and as little of what they were', async () => {
    const { log, bytes } = logging()
    const call = new Call({ secondVoice: true })
    log.begin({ ...HEAD, plan: planWith({ secondVoice: true }) })
    log.step(0, { type: 'opened' }, call.effects)
    const feed = (event: SessionEvent) => log.step(Math.round(call.nowMs * 1_000), event, call.do(event))
    const model = (event: ModelEvent) => feed({ type: 'model', epoch: 1, event })
    const written = { type: 'agent_text', responseId: 'resp_1', itemId: 'item_1' } as const
    model({ type: 'ready' })
    model({ type: 'response_started', responseId: 'resp_1' })
    model({ ...written, text: 'Your card, señor, ends with 1111.', final: false })
    const spoken = {
      type: 'spoken',
      text: 'Your card, señ',
      endsMs: Array.from('Your card, señ', (_, at) => at),
    } as const
    feed({ type: 'voice', id: 'voice-1', event: spoken })
    feed({ type: 'sent', responseId: 'resp_1', itemId: 'item_1', ms: 700, mark: 'm1' })
    feed({ type: 'voice', id: 'voice-1', event: { type: 'failed', why: 'lost', message: 'gone' } })
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 0 }
    const done = { status: 'completed', errorCode: null, fault: null, usage } as const
    model({ type: 'response_done', responseId: 'resp_1', ...done })
    log.close()
    await log.written()
    const text = unpackChunks(bytes())
    expect(text).not.toMatch(/card|señ|1111|ends with/)
    expect(call.commands('respond').at(-1)).toMatchObject({
      output: 'audio',
      instructions: expect.stringContaining(': señor, ends with 1111.'),
    })
    expect(replay(readLines(text))).toMatchObject({ difference: null })
  })

  it.each([
    ['whose call was not put through', 2, null],
    ['of which its carrier says that it was not put through', 1, 'busy'],
  ] as const)('tells enough of a session that goes on from one %s', async (_, count, notThrough) => {
    const { log, bytes } = logging()
    const resumption = {
      ...{ elapsedMs: 5_000, greetingMs: 100, interruptions: 0, idBase: 100_000 },
      turns: [
        noted(1, 'The call is being put through to +12025550103.'),
        noted(2, 'The call could not be put through: the line is busy.'),
      ].slice(0, count),
      notThrough,
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
    }
    const call = new Call({}, resumption)
    log.begin({ ...HEAD, resumption })
    log.step(0, { type: 'opened' }, call.effects)
    const ready = { type: 'model', epoch: call.state.model.epoch, event: { type: 'ready' } } as const
    log.step(0, ready, call.do(ready))
    log.close()
    await log.written()
    const text = unpackChunks(bytes())
    expect(call.commands('respond')[0]?.instructions).toContain('the line is busy')
    expect(text).not.toContain('2025550103')
    expect(replay(readLines(text)).difference).toBeNull()
  })

  it.each<[string, Partial<Resumption>, Partial<Plan>, string]>([
    [
      'behind keys that were pressed',
      { turns: [noted(1, 'The caller pressed these keys: 5550123')] },
      {},
      'answer what',
    ],
    ['with an assistant', { answered: { by: 'screening', from: 'words' } }, { readsParty: true }, '"ms":60000'],
  ])('tells enough of a session that goes on from one %s', async (_, left, plan, wanted) => {
    const { log, bytes } = logging()
    const resumption = {
      ...{ elapsedMs: 5_000, turns: [], greetingMs: 100, interruptions: 0, idBase: 100_000 },
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
      ...left,
    }
    const call = new Call(plan, resumption)
    log.begin({ ...HEAD, plan: planWith(plan), resumption })
    log.step(0, { type: 'opened' }, call.effects)
    const ready = { type: 'model', epoch: call.state.model.epoch, event: { type: 'ready' } } as const
    log.step(0, ready, call.do(ready))
    log.close()
    await log.written()
    const text = unpackChunks(bytes())
    expect(JSON.stringify(call.effects)).toContain(wanted)
    expect(text).not.toContain('5550123')
    expect(replay(readLines(text)).difference).toBeNull()
  })

  it('is whole where it is many chunks, and a line of it longer than one', async () => {
    const { log, bytes } = logging()
    const version = 'é'.repeat(12_000)
    const events = Array.from({ length: 2_000 }, (_, at) => ({ type: 'mark' as const, name: `é${at}` }))
    log.begin({ ...HEAD, version })
    for (const [at, event] of events.entries()) log.step(at, event, [])
    log.close()
    await log.written()
    const { head, steps, isWhole } = readLines(unpackChunks(bytes()))
    expect([isWhole, head.version === version]).toEqual([true, true])
    expect(steps.map(({ event }) => event)).toEqual(events)
  })

  it('tells of a mark that nobody has asked for what it is called, and goes on behind it', async () => {
    const { log, bytes } = logging()
    const name = 'not\nours\t{}'
    answered(log, (call) => {
      call.do({ type: 'mark', name })
      call.do({ type: 'dtmf', digit: '1' })
    })
    await log.written()
    const read = readLines(unpackChunks(bytes()))
    expect(read.steps.slice(-2).map(({ event }) => event)).toMatchObject([{ type: 'mark', name }, { type: 'dtmf' }])
    expect(replay(read).difference).toBeNull()
  })

  it('is none of a session that goes on from more than one may hold', async () => {
    const { log, bytes, told } = logging({ maxChars: 2_000 })
    const resumption = {
      ...{ elapsedMs: 5_000, greetingMs: 100, interruptions: 0, idBase: 100_000 },
      turns: [noted(1, 'words '.repeat(200))],
      toolCalls: [{ name: 'look_up', argumentsText: '{}', result: 'words '.repeat(200), afterTurns: 1 }],
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
    }
    answered({
      begin: (head) => log.begin({ ...head, resumption }),
      step: log.step.bind(log),
      close: () => log.close(),
    })
    await log.written()
    expect([bytes().length, told]).toEqual([0, ['closed']])
  })

  it('has of what was said its kinds of letters, in any writing, and its signs', () => {
    const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code))
    const kinds = ascii.replaceAll(/[a-z]/g, 'x').replaceAll(/[A-Z]/g, 'X').replaceAll(/[0-9]/g, '0')
    expect([masked(ascii), masked(`${ascii}é${ascii}ß好`)]).toEqual([kinds, `${kinds}x${kinds}x字`])
  })

  it('shows the first event after which something else follows', async () => {
    const { log, bytes } = logging()
    answered(log)
    await log.written()
    const read = readLines(unpackChunks(bytes()).replace('"modelStallMs":6000', '"modelStallMs":7000'))
    const { difference } = replay(read)
    expect(difference?.now).not.toBe(difference?.step.sketch)
    expect(read.steps[difference?.index ?? -1]).toBe(difference?.step)
  })

  it('goes as far as it was written by a process that was killed', async () => {
    const { log, bytes } = logging()
    answered(log)
    await log.written()
    const torn = Buffer.concat([bytes(), bytes().subarray(0, 30)])
    expect(unpackChunks(torn)).toBe(unpackChunks(bytes()))
    const lines = unpackChunks(bytes())
    const half = readLines(lines.slice(0, lines.length - 40))
    expect(half.isWhole).toBe(false)
    expect(replay(half).difference).toBeNull()
  })

  it('ends where it becomes too long, and can be run again as far as it goes', async () => {
    const { log, bytes, told } = logging({ maxChars: 2_000 })
    answered(log)
    await log.written()
    const read = readLines(unpackChunks(bytes()))
    expect(read.isWhole).toBe(false)
    expect(read.steps.length).toBeGreaterThan(2)
    expect(replay(read).difference).toBeNull()
    expect(told).toEqual(['closed'])
  })

  it('is given up once where the disk does not take it', async () => {
    const { log, told } = logging({ append: () => Promise.reject(new Error('full')) })
    answered(log)
    await log.written()
    log.close()
    expect(told).toEqual(['trouble', 'closed'])
  })
})

describe('A line of a log', () => {
  const READ = (lines: string) => readLines(`${JSON.stringify(HEAD)}\n${lines}`).steps

  const words = (text: string) => ({
    ...{ type: 'model' as const, epoch: 1 },
    event: { type: 'agent_transcript' as const, responseId: 'r', itemId: 'i', text, final: false },
  })

  it('is short for audio and its words, and reads back the same', () => {
    const writer = new LineWriter(HEAD)
    const sent = { type: 'sent', responseId: 'r', itemId: 'i', ms: 62.5, mark: 'm1' } as const
    const events: SessionEvent[] = [
      { ...sent, arrivedAtMs: 12.345 },
      { ...sent, mark: null },
      sent,
      { ...sent, itemId: 'j' },
      { type: 'mark', name: 'end of it' },
      words('xx\t'),
      words('x x\n'),
      { ...words('xx\tx x\n'), epoch: 2 },
      { type: 'caller_audio', ms: 100, loudMs: 40 },
      { type: 'fired', timer: 'idle' },
    ]
    const lines = events.map((event, index) => writer.line(index * 1_500, event, `+idle ${index}`))
    expect(lines[1]).toBe('1500 s 62.5\t+idle 1\n')
    expect(READ(lines.join(''))).toEqual(
      events.map((event, index) => ({ atUs: index * 1_500, event, sketch: `+idle ${index}` })),
    )
  })

  it('tells as they are what only says “go on”, and the key that ends an entry, to the agent to whom the call was handed', () => {
    const interruption = { ...planWith().interruption, backchannels: ['mhm'] }
    const plan = planWith({ interruption, dtmf: { maxDigits: 20, endKey: '*', timeoutMs: 3_000 } })
    const writer = new LineWriter({ v: 1, version: '', startUs: 0, plan: planWith(), resumption: null })
    const said = { type: 'caller_transcript' as const, itemId: 'turn_1', text: 'Mhm.' }
    const line = (event: SessionEvent) => writer.line(0, event, '')
    const heard = () => [line({ type: 'model', epoch: 1, event: said }), line({ type: 'dtmf', digit: '*' })].join('')
    expect(heard()).not.toContain('Mhm.')
    line({ type: 'hand_off', plan, agentName: 'Billie', summary: '' })
    const now = heard()
    expect([now.includes('Mhm.'), now.includes('"digit":"*"')]).toEqual([true, true])
  })

  it('hides the keys that were pressed, but not the one that ends an entry', () => {
    const keyed = (endKey: string) => {
      const writer = new LineWriter({ ...HEAD, plan: planWith({ dtmf: { maxDigits: 9, endKey, timeoutMs: 1 } }) })
      return ['7', '0', '#'].map((digit) => READ(writer.line(0, { type: 'dtmf', digit }, ''))[0]?.event)
    }
    const digits = (endKey: string) => keyed(endKey).map((event) => event?.type === 'dtmf' && event.digit)
    expect(digits('#')).toEqual(['0', '0', '#'])
    expect(digits('0')).toEqual(['1', '0', '#'])
  })

  it('hides the keys that the agent presses, and tells enough to press as many again', async () => {
    const { log, bytes } = logging()
    answered(log, (call) => call.do({ type: 'press', keys: '4711w9#' }))
    await log.written()
    const text = unpackChunks(bytes())
    expect(text).not.toContain('4711')
    const read = readLines(text)
    expect(read.steps.map(({ event }) => event)).toContainEqual({ type: 'press', keys: '0000x0#' })
    expect(replay(read)).toMatchObject({ difference: null, steps: read.steps.length })
  })
})

describe('Masked words', () => {
  it.each([
    ['Ring 0171-23, café?', 'Xxxx 0000-00, xxxx?'],
    ['好吗 𠮷𝟗', '字字 𠀀𝟎'],
    ['안녕하세요, مرحبا', 'XXXXX, XXXXX'],
    ['नमस्ते', 'XXX\u0301X\u0301'],
    ['É 𝐀𝐚', 'X 𝐗𝐱'],
    ['…', '…'],
  ])('are of the same length and kinds: %s', (words, mask) => {
    expect(masked(words)).toBe(mask)
    expect(masked(words)).toHaveLength(words.length)
  })
})

it('tells all that an effect is but its texts', () => {
  const tool = { type: 'run_tool', callId: 'c', name: 'find', argumentsText: '{"a":1}', atMs: 7 } as const
  expect(sketchOf([tool, { type: 'arm', timer: 'idle', ms: 9 }])).toBe(
    '{"type":"run_tool","callId":"c","name":"find","argumentsText":"#7","atMs":7} ; +idle 9',
  )
})

import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { silence } from '../../simulator/src/audio/mulaw.ts'
import type { FaultPlan } from '../../simulator/src/model/faults.ts'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../simulator/src/speech/speech.ts'
import { type Clock, systemClock } from '../src/kernel/clock.ts'
import { openaiDriver } from '../src/platform/realtime/openai/driver.ts'
import type { ModelEvent, ModelListener, ModelSession, ModelSetup } from '../src/platform/realtime/port.ts'
import { TestClock } from './harness/clock.ts'
import { until } from './harness/wait.ts'

const FRAME_BYTES = 160
const PIECE_BYTES_MAX = 4_000
const WELCOME = 'Welcome to the shop. How can I help you today?'
const QUESTION = 'What time do you open on Monday?'
const LONG = 'This is a very long answer, which goes on and on, and on, until somebody has the heart to interrupt it.'

const SCRIPT = {
  rules: [
    { when: { turn: 1 }, say: 'One moment.', call: { name: 'look_up', arguments: { day: 'Monday' } } },
    { when: { after_tool: 'look_up' }, say: 'We open at {output.time}.' },
  ],
}

const SETUP: ModelSetup = {
  model: null,
  voice: null,
  instructions: 'You are Ada, who works in a shop.',
  speed: 1,
  output: 'audio',
  turnDetection: { type: 'server_vad', threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 },
  noiseReduction: 'far_field',
  reasoningEffort: null,
  transcription: { model: null, language: 'pt-BR' },
  tools: [
    {
      name: 'look_up',
      description: 'Looks up opening hours.',
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    },
  ],
}

class Heard implements ModelListener {
  readonly events: ModelEvent[] = []
  readonly pieces: { responseId: string; itemId: string; audio: Buffer }[] = []
  /** How many pieces there were when an answer was done. */
  piecesOfDone = 0

  event(event: ModelEvent): void {
    if (event.type === 'response_done') this.piecesOfDone = this.pieces.length
    this.events.push(event)
  }

  audio(responseId: string, itemId: string, payload: Buffer): void {
    this.pieces.push({ responseId, itemId, audio: Buffer.from(payload.toString('latin1'), 'base64') })
  }

  /** The first event of a type among those after the first `after`. */
  next<T extends ModelEvent['type']>(type: T, after = 0): Promise<Extract<ModelEvent, { type: T }>> {
    const isWanted = (event: ModelEvent): event is Extract<ModelEvent, { type: T }> => event.type === type
    const what = () => `${type}, having ${this.events.map((event) => event.type).join(', ')}`
    return until(() => this.events.slice(after).find(isWanted), { what: what() })
  }

  audioOf(responseId: string): Buffer {
    return Buffer.concat(this.pieces.filter((piece) => piece.responseId === responseId).map(({ audio }) => audio))
  }
}

const phraseBook = makePhraseBook()
const speech = makeSpeech({ phraseBook })
let model: Model

beforeAll(async () => {
  // A voice takes a busy machine seconds to its first words.
  await speech.say('Hello.')
  const pace = { thinkMs: 10, timesRealTime: 20 }
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, pace, brain: SCRIPT, apiKey: 'the-key' })
})
afterEach(() => model.setFaults([]))
afterAll(async () => {
  await model.close()
  await speech.close()
})

type Opened = { session: ModelSession; heard: Heard }

function open(setup: Partial<ModelSetup> = {}, clock: Clock = systemClock): Opened {
  const defaults = { model: 'gpt-realtime', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }
  const heard = new Heard()
  const session = openaiDriver({ url: model.url, apiKey: 'the-key', clock, defaults }).open(
    { ...SETUP, ...setup },
    heard,
  )
  onTestFinished(() => session.close())
  return { session, heard }
}

async function ready(setup: Partial<ModelSetup> = {}, clock: Clock = systemClock): Promise<Opened> {
  const opened = open(setup, clock)
  await opened.heard.next('ready')
  return opened
}

async function callerSays({ session }: Opened, words: string): Promise<void> {
  const mulaw = Buffer.concat([await speech.say(words, 'rms'), silence(1_000)])
  for (let at = 0; at < mulaw.length; at += FRAME_BYTES) {
    session.append(Buffer.from(mulaw.subarray(at, at + FRAME_BYTES).toString('base64')))
  }
}

function say(words: string): { type: 'respond'; requestId: string; instructions: string } {
  return { type: 'respond', requestId: 'ask', instructions: `Say exactly this, and nothing else: ${words}` }
}

const record = () => model.sessions.at(-1)?.record

describe('a whole session with the rehearsal model', () => {
  it('greets, hears the caller, calls a function, is interrupted, and is never refused anything', async () => {
    const opened = await ready()
    const { session, heard } = opened

    session.send(say(WELCOME))
    const greeting = await heard.next('response_done')
    const greetingItem = await heard.next('item_added')
    expect(greeting).toMatchObject({ status: 'completed', errorCode: null, fault: null })
    expect(greetingItem).toMatchObject({ role: 'agent', previousItemId: null })
    expect(heard.events).toContainEqual({
      ...{ type: 'agent_transcript', responseId: greeting.responseId },
      ...{ itemId: greetingItem.itemId, text: WELCOME, final: true },
    })
    const spoken = heard.audioOf(greeting.responseId)
    expect(spoken.equals(await speech.say(WELCOME))).toBe(true)
    expect(greeting.usage.audioSeconds).toBe(spoken.length / 8_000)
    expect(greeting.usage.outputTokens).toBeGreaterThan(0)
    expect(heard.pieces.every(({ audio }) => audio.length <= PIECE_BYTES_MAX)).toBe(true)

    await callerSays(opened, QUESTION)
    const started = await heard.next('speech_started')
    const stopped = await heard.next('speech_stopped')
    const turn = await heard.next('committed')
    expect(stopped.audioEndMs).toBeGreaterThan(started.audioStartMs)
    expect(turn).toEqual({ type: 'committed', itemId: started.itemId, previousItemId: greetingItem.itemId })
    expect(await heard.next('caller_transcript')).toMatchObject({ itemId: turn.itemId, text: QUESTION })
    expect(heard.events).toContainEqual({ ...turn, type: 'item_added', role: 'caller' })

    let mark = heard.events.length
    session.send({ type: 'respond', requestId: 'ask-2', instructions: null })
    const call = await heard.next('tool_call', mark)
    expect(call).toMatchObject({ name: 'look_up', argumentsText: '{"day":"Monday"}' })
    await heard.next('response_done', mark)

    mark = heard.events.length
    session.send({ type: 'tool_result', callId: call.callId, output: '{"time":"nine"}' })
    session.send({ type: 'respond', requestId: 'ask-3', instructions: null })
    const answer = await heard.next('response_done', mark)
    expect(record()?.said.at(-1)).toMatchObject({ responseId: answer.responseId, text: 'We open at nine.' })
    expect(record()?.calls).toMatchObject([{ callId: call.callId, output: '{"time":"nine"}' }])

    mark = heard.events.length
    session.send(say(LONG))
    const { responseId } = await heard.next('response_started', mark)
    await until(() => heard.audioOf(responseId).length >= 1_600, { what: '200 ms of it' })
    const itemId = heard.pieces.at(-1)?.itemId ?? ''
    session.send({ type: 'cancel', responseId })
    session.send({ type: 'truncate', itemId, audioEndMs: 100.7 })
    const cancelled = await heard.next('response_done', mark)
    expect(cancelled).toMatchObject({ responseId, status: 'cancelled', fault: null })
    expect(cancelled.usage.audioSeconds).toBe(heard.audioOf(responseId).length / 8_000)

    session.send({ type: 'delete_item', itemId: turn.itemId })
    session.send({ type: 'system_message', text: 'The supervisor says: be brief.' })
    await until(() => heard.events.some((event) => event.type === 'item_added' && event.role === 'system'), {
      what: 'the message',
    })
    expect(record()?.truncations).toMatchObject([{ itemId, audioEndMs: 100 }])
    expect(record()?.errors).toEqual([])
    expect(record()?.received['session.update']).toBe(1)
    expect(heard.events.filter(({ type }) => type === 'refused' || type === 'closed')).toEqual([])

    session.close()
    await until(() => record()?.closeCode === 1000, { what: 'the goodbye' })
  })

  it('tells of each message of an answer, and that the first was only said ahead', async () => {
    const rule = { ahead: { say: 'One moment.', think_ms: 50 }, say: 'We open at nine.' }
    onTestFinished(model.scripts.setDefault({ rules: [rule] }))
    const { session, heard } = await ready()
    session.send({ type: 'respond', requestId: 'ask', instructions: null })
    const { responseId, usage } = await heard.next('response_done')
    const words = heard.events.flatMap((event) => (event.type === 'agent_transcript' && event.final ? [event] : []))
    expect(words.map(({ text }) => text)).toEqual(['One moment.', 'We open at nine.'])
    const [first, second] = words.map(({ itemId }) => itemId)
    const ofItem = (itemId = '') =>
      Buffer.concat(heard.pieces.filter((piece) => piece.itemId === itemId).map(({ audio }) => audio))
    expect(ofItem(first).equals(await speech.say('One moment.'))).toBe(true)
    expect(ofItem(second).equals(await speech.say('We open at nine.'))).toBe(true)
    expect(usage.audioSeconds).toBe(heard.audioOf(responseId).length / 8_000)
    const told = heard.events.flatMap((event) =>
      event.type === 'audio_done' || event.type === 'preamble' ? [[event.type, event.itemId]] : [],
    )
    expect(told).toEqual([
      ['audio_done', first],
      ['preamble', first],
      ['audio_done', second],
    ])
    session.close()
  })

  it.each([
    ['gpt-realtime-2.1', []],
    ['gpt-realtime', [{ param: 'session.reasoning' }]],
  ])('talks with %s whatever it is to reason', async (name, refusals) => {
    const { session, heard } = await ready({ model: name, reasoningEffort: 'high' })
    session.send(say(WELCOME))
    expect(await heard.next('response_done')).toMatchObject({ status: 'completed' })
    expect(record()?.errors).toMatchObject(refusals)
    expect(record()?.received['session.update']).toBe(1 + refusals.length)
    session.close()
  })

  it('answers in text when that is asked for', async () => {
    const { session, heard } = await ready({ output: 'text' })
    session.send(say('In writing.'))
    const { responseId, usage } = await heard.next('response_done')
    const written = heard.events.filter((event) => event.type === 'agent_text')
    expect(written.at(-1)).toMatchObject({ responseId, text: 'In writing.', final: true })
    expect(
      written
        .slice(0, -1)
        .map(({ text }) => text)
        .join(''),
    ).toBe('In writing.')
    expect(heard.pieces).toEqual([])
    expect(usage.audioSeconds).toBe(0)
  })

  it.each<[string, Partial<ModelSetup>]>([
    ['semantic turns', { turnDetection: { type: 'semantic_vad', eagerness: 'high' } }],
    ['a voice of the account', { voice: 'voice_1234' }],
    ['the noise left in', { noiseReduction: 'off' }],
    ['everything by default', { speed: null, noiseReduction: null, tools: [], instructions: '' }],
  ])('sends settings that a strict server takes: %s', async (_what, setup) => {
    await ready(setup)
    expect(record()?.errors).toEqual([])
  })
})

describe('what the rehearsal model does wrong on purpose', () => {
  const closes: [FaultPlan, string, string][] = [
    [{ refuse: true }, 'econnreset', 'retry'],
    [{ handshake_status: 401 }, 'invalid_api_key', 'fatal'],
    [{ handshake_status: 403 }, 'account_deactivated', 'fatal'],
    [{ handshake_status: 404 }, 'model_not_found', 'fatal'],
    [{ handshake_status: 429 }, 'rate_limit_exceeded', 'retry'],
    [{ handshake_status: 500 }, 'server_error', 'retry'],
    [{ open_error: 'insufficient_quota' }, 'insufficient_quota', 'fatal'],
    [{ open_error: 'model_not_found' }, 'model_not_found', 'fatal'],
    [{ reject_session_update: 'unknown_parameter' }, 'unknown_parameter', 'setup'],
    [{ cut: { manner: 'close', code: 1011, on_event: 'session.updated' } }, 'close_1011', 'retry'],
    [{ cut: { manner: 'fin', on_event: 'session.updated' } }, 'close_1006', 'retry'],
    [{ cut: { manner: 'rst', on_event: 'session.updated' } }, 'close_1006', 'retry'],
    [{ expire: { on_event: 'session.updated' } }, 'session_expired', 'expired'],
    [{ huge_event_bytes: 5 * 1024 * 1024 }, 'ws_err_unsupported_message_length', 'retry'],
  ]
  it.each(closes)('closes the session once for %j', async (plan, code, fault) => {
    model.setFaults([plan])
    const { heard } = open()
    const closed = await heard.next('closed')
    expect(closed).toMatchObject({ code, fault })
    expect(heard.events.at(-1)).toBe(closed)
    expect(heard.events.filter(({ type }) => type === 'closed')).toHaveLength(1)
  })

  it('waits five seconds for settings that are never granted', async () => {
    const clock = new TestClock()
    model.setFaults([{ ignore_session_update: true }])
    const earlier = record()
    const { heard } = open({}, clock)
    const hasSettings = () => record() !== earlier && record()?.received['session.update'] === 1
    await until(hasSettings, { what: 'the settings' })
    await clock.advance(5_000)
    expect(heard.events).toMatchObject([{ type: 'closed', code: 'setup_timeout', fault: 'retry' }])
    expect(clock.pendingTimers).toBe(0)
  })

  it('notices a black hole by its pings', async () => {
    const clock = new TestClock()
    model.setFaults([{ cut: { manner: 'black_hole', on_event: 'session.updated' } }])
    const { heard } = await ready({}, clock)
    await clock.advance(15_000)
    expect(heard.events.slice(1)).toMatchObject([{ type: 'closed', code: 'peer_silent', fault: 'retry' }])
  })

  it.each([
    ['rate_limit_exceeded', 'retry'],
    ['insufficient_quota', 'fatal'],
    ['server_error', 'retry'],
  ] as const)('tells an answer that failed with %s', async (code, fault) => {
    model.setFaults([{ fail_response: { code } }])
    const { session, heard } = await ready()
    session.send(say('Never heard.'))
    expect(await heard.next('response_done')).toMatchObject({ status: 'failed', errorCode: code, fault })
  })

  it('tells an answer that was kept back for what is said in it', async () => {
    model.setFaults([{ fail_response: { code: 'content_filter', count: 1 } }])
    const { session, heard } = await ready()
    session.send(say('Never heard.'))
    expect(await heard.next('response_done')).toMatchObject({ status: 'incomplete', errorCode: 'content_filter' })
  })

  it('tells which request came too early', async () => {
    model.setFaults([{ active_response_count: 1 }])
    const { session, heard } = await ready()
    session.send({ type: 'respond', requestId: 'ask-early', instructions: null })
    const code = 'conversation_already_has_active_response'
    expect(await heard.next('refused')).toMatchObject({ requestId: 'ask-early', code, fault: 'benign' })
  })

  it('goes on after refusals in the middle of a call', async () => {
    const { session, heard } = await ready()
    session.send({ type: 'cancel', responseId: 'resp_none' })
    session.send({ type: 'truncate', itemId: 'item_none', audioEndMs: 100 })
    session.send({ type: 'delete_item', itemId: 'item_none' })
    session.send(say('Here I am.'))
    await heard.next('response_done')
    const refusals = heard.events.filter((event) => event.type === 'refused')
    expect(refusals.map(({ fault }) => fault)).toEqual(['benign', 'benign', 'benign'])
  })

  it('passes late audio on, with the answer that it belongs to, and none of it changes what the answer cost', async () => {
    model.setFaults([{ late_deltas: { deltas: 2, after_done: true } }])
    const { session, heard } = await ready()
    session.send(say(LONG))
    const { responseId } = await heard.next('response_started')
    await until(() => heard.pieces.length > 0, { what: 'its audio' })
    session.send({ type: 'cancel', responseId })
    const done = await heard.next('response_done')
    // Not since we look, which a busy machine may do once they have come.
    await until(() => heard.pieces.length === heard.piecesOfDone + 2, { what: 'two late deltas' })
    expect(heard.pieces.every((piece) => piece.responseId === responseId)).toBe(true)
    expect(done.usage.audioSeconds).toBeLessThan(heard.audioOf(responseId).length / 8_000)
  })

  it('ignores events that nobody knows', async () => {
    model.setFaults([{ unknown_event_every: 2 }])
    const { session, heard } = await ready()
    session.send(say(WELCOME))
    const { responseId } = await heard.next('response_done')
    expect(heard.audioOf(responseId).equals(await speech.say(WELCOME))).toBe(true)
  })

  it('tells a transcript that failed', async () => {
    model.setFaults([{ transcripts: { how: 'failed' } }])
    const opened = await ready()
    await callerSays(opened, QUESTION)
    const { itemId } = await opened.heard.next('committed')
    expect(await opened.heard.next('caller_transcript_failed')).toMatchObject({ itemId })
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Model, startModel } from '../model/model.ts'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../speech/speech.ts'

const PATIENCE_MS = 30_000
const QUERY = 'model_id=eleven_flash_v2_5&output_format=ulaw_8000'
const FIRST = { text: ' ', generation_config: { chunk_length_schedule: [50] } }
const TEXT = 'We have many kinds of chairs. There are wooden ones, and there are metal ones. '

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there, and fails if it is not.
type Message = Record<string, any>

let model: Model
let speech: Speech
beforeAll(async () => {
  const phraseBook = makePhraseBook()
  speech = makeSpeech({ phraseBook })
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, apiKey: 'right' })
})
afterEach(() => model.voices.setFaults([]))
afterAll(async () => {
  await model.close()
  await speech.close()
})

type How = { query?: string; key?: string; patienceMs?: number; isEnough?: (messages: Message[]) => boolean }

/** What one stream says to somebody who sends all of this, and goes once that is enough, or there is nothing more to hear. */
async function heard(sent: object[], how: How = {}) {
  const { query = QUERY, key = 'right', patienceMs = PATIENCE_MS, isEnough = () => false } = how
  const messages: Message[] = []
  const headers: Record<string, string> = key === '' ? {} : { 'xi-api-key': key }
  const socket = new WebSocket(`${model.voiceUrl}/v1/stream-input?${query}`, { headers })
  const ended = new Promise<{ status: number | null; code: number }>((resolve) => {
    socket.on('unexpected-response', (_, response) => {
      resolve({ status: response.statusCode ?? 0, code: 0 })
      socket.terminate()
    })
    socket.on('error', () => {})
    socket.on('close', (code) => resolve({ status: null, code }))
  })
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as Message)
    if (isEnough(messages)) socket.terminate()
  })
  socket.on('open', () => {
    for (const message of sent) socket.send(JSON.stringify(message))
  })
  const late = new Promise<null>((resolve) => {
    AbortSignal.timeout(patienceMs).addEventListener('abort', () => resolve(null))
  })
  const end = await Promise.race([ended, late])
  socket.terminate()
  return { messages, end }
}

const charsOf = (messages: Message[]) => messages.flatMap(({ alignment }) => alignment?.chars ?? []).join('')
const bytesOf = ({ audio }: Message) => (audio ? Buffer.from(audio, 'base64').length : 0)

describe('the simulated voices', () => {
  it('speak what they are given, each message of audio with its alignment, then say that they are done and close', async () => {
    const { messages, end } = await heard([FIRST, { text: TEXT }, { text: 'Good. ', flush: true }, { text: '' }])
    expect(end).toEqual({ status: null, code: 1000 })
    expect(messages.at(-1)).toMatchObject({ isFinal: true, audio: null })
    expect(charsOf(messages)).toBe(`${TEXT}Good. `)
    for (const message of messages.slice(0, -1)) {
      const { charStartTimesMs, charDurationsMs, chars } = message['alignment']
      expect([charStartTimesMs.length, charDurationsMs.length]).toEqual([chars.length, chars.length])
      expect(charStartTimesMs[0]).toBe(0)
      const endMs = charStartTimesMs.at(-1) + charDurationsMs.at(-1)
      // There is a breath behind a sentence.
      expect(bytesOf(message) / 8 - endMs).toBeGreaterThanOrEqual(-2)
      expect(bytesOf(message) / 8 - endMs).toBeLessThanOrEqual(242)
      expect(message['normalizedAlignment']).toEqual(message['alignment'])
    }
    expect(model.voices.streams.at(-1)).toMatchObject({ voiceId: 'v1', texts: [TEXT, 'Good. '] })
  })

  it('speak before the text is whole once they have enough of it, and wait for more when they have not', async () => {
    // In its own time: whoever is ended for being silent meanwhile does not hear all of it on a busy machine.
    const early = await heard([FIRST, { text: TEXT }], { isEnough: (messages) => charsOf(messages) === TEXT })
    expect(charsOf(early.messages)).toBe(TEXT)
    const waiting = await heard([FIRST, { text: 'Too little. ' }], { query: `${QUERY}&inactivity_timeout=1` })
    expect(charsOf(waiting.messages)).toBe('')
  })

  it('speak each message as it comes in auto_mode', async () => {
    const { messages } = await heard([FIRST, { text: 'Little. ' }], {
      query: `${QUERY}&auto_mode=true`,
      isEnough: (said) => charsOf(said) === 'Little. ',
    })
    expect(charsOf(messages)).toBe('Little. ')
  })

  it('end a stream that nobody speaks to, with an error', async () => {
    const { messages, end } = await heard([FIRST], { query: `${QUERY}&inactivity_timeout=1` })
    expect([messages.at(-1)?.['error'], end?.code]).toEqual(['input_timeout_exceeded', 1008])
  })

  it.each<[string, object[], { query?: string; key?: string }, string]>([
    ['a wrong key', [FIRST], { key: 'wrong' }, 'invalid_api_key'],
    ['no key', [FIRST], { key: '' }, 'invalid_api_key'],
    ['words before the blank', [{ text: 'Hello ' }], {}, 'missing_initial_message'],
    [
      'a schedule out of bounds',
      [{ text: ' ', generation_config: { chunk_length_schedule: [10] } }],
      {},
      'invalid_chunk_length_schedule',
    ],
    ['no text', [FIRST, { words: 'x' }], {}, 'invalid_message'],
  ])('refuse %s with an error and a policy close', async (_, sent, how, error) => {
    const { messages, end } = await heard(sent, how)
    expect([messages.at(-1), end?.code]).toMatchObject([{ error, code: 1008 }, 1008])
  })

  it('take the key in the first message, too', async () => {
    const { end } = await heard([{ ...FIRST, xi_api_key: 'right' }, { text: '' }], { key: '' })
    expect(end?.code).toBe(1000)
  })

  it.each([
    ['output_format=mp3_44100_128', 400],
    [`${QUERY}&inactivity_timeout=500`, 400],
  ])('do not open %s', async (query, status) => {
    expect((await heard([], { query })).end?.status).toBe(status)
  })
})

describe('the faults of the simulated voices', () => {
  const ALL = [FIRST, { text: TEXT }, { text: TEXT }, { text: '' }]

  it('refuse the handshake, and only that of the streams asked for', async () => {
    model.voices.setFaults([{ handshake_status: 429, streams: [2] }])
    expect((await heard(ALL)).end?.code).toBe(1000)
    expect((await heard(ALL)).end?.status).toBe(429)
  })

  it('drop the connection in the middle', async () => {
    model.voices.setFaults([{ drop_after: 2 }])
    const { messages, end } = await heard(ALL)
    expect([messages.length, end?.code]).toEqual([2, 1006])
  })

  it('tell of an error in the middle', async () => {
    model.voices.setFaults([{ error_after: { messages: 1, error: 'quota_exceeded' } }])
    const { messages, end } = await heard(ALL)
    expect([messages.length, messages[1]?.['error'], end?.code]).toEqual([2, 'quota_exceeded', 1008])
  })

  it('fall silent, and stay there', async () => {
    model.voices.setFaults([{ silent_after: 1 }])
    const { messages, end } = await heard(ALL, { patienceMs: 8_000 })
    expect([messages.length, end]).toEqual([1, null])
  })

  it('leave out what audio says', async () => {
    model.voices.setFaults([{ no_alignment: true }])
    const { messages } = await heard(ALL)
    expect(messages.length).toBeGreaterThan(2)
    expect(messages.every(({ alignment }) => alignment === null)).toBe(true)
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../../test/harness/clock.ts'
import { until } from '../../../../test/harness/wait.ts'
import { type Connection, ScriptedServer } from '../../realtime/openai/scripted-server.fixture.ts'
import type { VoiceEvent, VoiceSetup, VoiceStream } from '../streamed-port.ts'
import { elevenlabsSpeech } from './driver.ts'

const KEY = 'key-of-the-voice-tests'
const SETUP: VoiceSetup = { voiceId: 'a voice', modelId: null, language: 'en', speed: 1 }

let server: ScriptedServer
let clock: TestClock
let events: VoiceEvent[]
let audio: string[]
let streams: VoiceStream[]
beforeEach(async () => {
  server = new ScriptedServer()
  await server.listen()
  clock = new TestClock()
  events = []
  audio = []
  streams = []
})
afterEach(async () => {
  for (const stream of streams) stream.close()
  await server.close()
})

function open(setup: Partial<VoiceSetup> = {}): VoiceStream {
  const url = server.url.replace('/v1/realtime', '/v1/text-to-speech')
  const stream = elevenlabsSpeech({ url, apiKey: KEY, clock }).open(
    { ...SETUP, ...setup },
    { event: (event) => events.push(event), audio: (payload) => audio.push(payload.toString('latin1')) },
  )
  streams.push(stream)
  return stream
}

const texts = ({ received }: Connection) => received.map(({ text, flush }) => (flush ? `${text}|` : text))
const says = (connection: Connection, fields: object) => connection.socket.send(JSON.stringify(fields))
const ended = () => until(() => events.find(({ type }) => type !== 'spoken'), { what: 'the end of the stream' })

/** Until the stream, and not only the server, knows of its connection. */
async function opened(): Promise<void> {
  const { received } = await server.connection()
  await until(() => received.length > 0, { what: 'the blank that opens a stream' })
}

/** What the provider sends for these characters, 20 ms each. */
function spoken(text: string) {
  const chars = [...text]
  const alignment = { chars, charStartTimesMs: chars.map((_, at) => at * 20), charDurationsMs: chars.map(() => 20) }
  return { audio: Buffer.alloc(chars.length * 160, 0x7f).toString('base64'), isFinal: null, alignment }
}

describe('a stream of ElevenLabs', () => {
  it('is opened for the voice, as telephone audio with its alignment, by the key in the header', async () => {
    open()
    const { request } = await server.connection()
    const url = new URL(request.url ?? '', server.url)
    expect(url.pathname).toBe('/v1/text-to-speech/a%20voice/stream-input')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{
        model_id: 'eleven_flash_v2_5',
        output_format: 'ulaw_8000',
        inactivity_timeout: '60',
        sync_alignment: 'true',
      },
      language_code: 'en',
    })
    expect(request.headers['xi-api-key']).toBe(KEY)
  })

  it('names the language alone, without its script and its country', async () => {
    for (const language of ['pt-BR', 'en-US', 'zh-Hant']) open({ language })
    const opened = await Promise.all([server.connection(1), server.connection(2), server.connection(3)])
    const codes = opened.map(({ request }) => new URL(request.url ?? '', 'ws://x').searchParams.get('language_code'))
    expect(codes.sort()).toEqual(['en', 'pt', 'zh'])
  })

  it('begins with a blank, and is given whole words as they come, those before the connection too', async () => {
    const stream = open({ speed: 1.1 })
    stream.say('Hel')
    stream.say('lo there, ca')
    const connection = await server.connection()
    await until(() => connection.received.length === 2, { what: 'the first words' })
    expect(connection.received[0]).toEqual({
      ...{ text: ' ', voice_settings: { speed: 1.1 } },
      generation_config: { chunk_length_schedule: [50, 90, 120, 150] },
    })
    stream.say('ller.')
    stream.flush()
    stream.end()
    await until(() => connection.received.length === 4, { what: 'the last words' })
    expect(texts(connection)).toEqual([' ', 'Hello there, ', 'caller. |', ''])
  })

  it('tells what its audio says, from the beginning of all of it, and passes it on in pieces of 500 ms', async () => {
    const stream = open()
    stream.say('Hello there, you. ')
    const connection = await server.connection()
    says(connection, spoken('Hello '))
    says(connection, spoken('there, you who are listening now. '))
    await until(() => events.length === 2, { what: 'the audio' })
    expect(events[0]).toEqual({ type: 'spoken', text: 'Hello ', endsMs: [20, 40, 60, 80, 100, 120] })
    expect(events[1]).toMatchObject({ type: 'spoken', endsMs: expect.arrayContaining([140, 800]) })
    const bytes = audio.map((piece) => Buffer.from(piece, 'base64').length)
    expect(bytes.every((size) => size <= 4_000)).toBe(true)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBe(40 * 160)
  })

  it('is done when the provider says so behind the end of the text, and says nothing more', async () => {
    const stream = open()
    stream.say('Hi.')
    stream.end()
    const connection = await server.connection()
    says(connection, spoken('Hi. '))
    says(connection, { isFinal: true })
    expect(await ended()).toEqual({ type: 'done' })
    await until(() => connection.closeCode !== null, { what: 'the goodbye' })
    expect(events.filter(({ type }) => type !== 'spoken')).toHaveLength(1)
  })

  it('has failed when the provider says that it is done, and words are missing', async () => {
    const stream = open()
    stream.say('Hello. There was a lot more to be said than this.')
    stream.end()
    const connection = await server.connection()
    says(connection, spoken('Hello. '))
    says(connection, { isFinal: true })
    expect(await ended()).toMatchObject({ type: 'failed', why: 'lost' })
  })

  it('understands the other spellings of the same', async () => {
    const stream = open()
    stream.say('Hi.')
    stream.end()
    const connection = await server.connection()
    const times = { char_start_times_ms: [0, 20], char_durations_ms: [20, 20] }
    says(connection, { audio: 'f39/fw==', normalized_alignment: { chars: ['H', 'i'], ...times } })
    says(connection, { audio: null, is_final: true })
    expect(await ended()).toEqual({ type: 'done' })
    expect(events[0]).toEqual({ type: 'spoken', text: 'Hi', endsMs: [20, 40] })
  })

  it('says nothing any more once it was cut, whatever still comes', async () => {
    const stream = open()
    stream.say('Hello there. ')
    const connection = await server.connection()
    stream.close()
    says(connection, spoken('Hello there. '))
    await until(() => connection.closeCode !== null, { what: 'the goodbye' })
    expect([events, audio, clock.pendingTimers > 1]).toEqual([[], [], false])
  })

  it.each<[string, () => void]>([
    ['refused', () => (server.answer = { how: 'refuse', status: 401 })],
    ['not answered', () => (server.answer = { how: 'hang' })],
  ])('has failed when its handshake is %s', async (_, arrange) => {
    arrange()
    open().say('Hello. ')
    await until(() => server.handshakes === 1, { what: 'the handshake' })
    await clock.advance(2_000)
    expect(await ended()).toMatchObject({ type: 'failed', why: 'handshake' })
  })

  it.each([
    [400, 'unfit'],
    [401, 'handshake'],
    [403, 'handshake'],
    [404, 'unfit'],
    [429, 'handshake'],
    [503, 'handshake'],
  ])("whose handshake is answered with %i is %s: only what was asked for is its voice's fault", async (status, why) => {
    server.answer = { how: 'refuse', status }
    open().say('Hello. ')
    expect(await ended()).toMatchObject({ type: 'failed', why })
  })

  it.each([
    [{ error: 'voice_not_found', message: 'A voice with this id was not found.' }, 'unfit'],
    [{ error: 'unsupported_model' }, 'unfit'],
    [{ message: 'quota', error: 'quota_exceeded' }, 'refused'],
    [{ message: 'Bad key', error: 'invalid_api_key' }, 'refused'],
  ])('that is told of %j is %s', async (fields, why) => {
    open().say('Hello. ')
    says(await server.connection(), { ...fields, code: 1008 })
    expect(await ended()).toMatchObject({ type: 'failed', why })
  })

  it('has failed when text that is due is not followed by audio within two seconds', async () => {
    const stream = open()
    await opened()
    stream.say('Some words that the provider may hold. ')
    await clock.advance(10_000)
    expect(events).toEqual([])
    stream.flush()
    await clock.advance(1_999)
    expect(events).toEqual([])
    await clock.advance(1)
    expect(events).toMatchObject([{ type: 'failed', why: 'silent' }])
  })

  it('has not failed when it leaves out an emoji behind what it has said, but when it leaves out words', async () => {
    const stream = open()
    const connection = await server.connection()
    await opened()
    stream.say('Hello. ')
    stream.flush()
    says(connection, spoken('Hello. '))
    await until(() => events.length === 1, { what: 'the audio' })
    stream.say('👍')
    stream.flush()
    await clock.advance(10_000)
    expect(events).toHaveLength(1)
    stream.say('And now some words that are spoken.')
    stream.flush()
    await clock.advance(2_000)
    expect(events.at(-1)).toMatchObject({ type: 'failed', why: 'silent' })
  })

  it('has not failed when nobody was told what its audio says', async () => {
    const stream = open()
    const connection = await server.connection()
    await opened()
    stream.say('Some words, and it is not told where they are. ')
    stream.flush()
    says(connection, { ...spoken('Some words'), alignment: null })
    await until(() => audio.length > 0, { what: 'the audio' })
    await clock.advance(10_000)
    expect(events).toEqual([])
  })

  it('has failed when it is silent while ever more text comes', async () => {
    const stream = open()
    await opened()
    for (let at = 0; at < 100; at += 1) {
      stream.say('words and ')
      await clock.advance(50)
    }
    expect(events).toMatchObject([{ type: 'failed', why: 'silent' }])
  })

  it('has failed when the provider tells of an error, whose words hold no key', async () => {
    open().say('Hello. ')
    const connection = await server.connection()
    says(connection, { error: 'quota_exceeded', message: `No more for ${KEY}.`, code: 1008 })
    expect(await ended()).toEqual({ type: 'failed', why: 'refused', message: 'quota_exceeded: No more for ***.' })
  })

  it.each(['{', '{"audio":"not base64"}'])('has failed when it says %s', async (text) => {
    open().say('Hello. ')
    const connection = await server.connection()
    connection.socket.send(text)
    expect(await ended()).toMatchObject({ type: 'failed', why: 'refused' })
  })

  it('has failed when its connection is lost with words that were not spoken', async () => {
    open().say('Hello. ')
    const connection = await server.connection()
    connection.raw.destroy()
    expect(await ended()).toMatchObject({ type: 'failed', why: 'lost' })
  })

  it('has failed when it is closed before its first word was whole', async () => {
    const stream = open()
    await opened()
    stream.say('Hel')
    const connection = await server.connection()
    connection.socket.close(1000)
    expect(await ended()).toMatchObject({ type: 'failed', why: 'lost' })
  })

  it('is only idle when it is closed before it was given a word', async () => {
    open()
    const connection = await server.connection()
    await until(() => connection.received.length === 1, { what: 'the blank' })
    connection.socket.close(1000)
    expect(await ended()).toMatchObject({ type: 'failed', why: 'idle' })
  })

  it('is only idle, too, when the provider says that it has waited too long for a first word', async () => {
    open()
    const connection = await server.connection()
    await until(() => connection.received.length === 1, { what: 'the blank' })
    says(connection, { message: 'Have not received a new text input.', error: 'input_timeout_exceeded', code: 1008 })
    expect(await ended()).toMatchObject({ type: 'failed', why: 'idle' })
  })

  it('has failed when the provider has waited too long for more words than it was given', async () => {
    open().say('Hello. ')
    const connection = await server.connection()
    says(connection, { message: 'Have not received a new text input.', error: 'input_timeout_exceeded', code: 1008 })
    expect(await ended()).toMatchObject({ type: 'failed', why: 'refused' })
  })
})

import { describe, expect, it, onTestFinished } from 'vitest'
import { type SpeechServer, startSpeechServer } from '../../../test/harness/speech-server.ts'
import { mulaw, sampleOf } from '../../kernel/mulaw.ts'
import { openaiSpeech } from './openai.ts'
import { wavFile } from './wav.fixture.ts'

async function speechServer(): Promise<SpeechServer> {
  const server = await startSpeechServer()
  onTestFinished(() => server.close())
  return server
}

function said(server: SpeechServer, voice: string | null = null): Promise<Buffer> {
  const signal = new AbortController().signal
  return openaiSpeech({ baseUrl: server.baseUrl, apiKey: 'key' }).speak({ text: 'Hello.', voice, speed: 1, signal })
}

it.each([
  ['cedar', 'cedar'],
  [null, 'marin'],
  ['voice_abc123', { id: 'voice_abc123' }],
])('Words are spoken ahead with the voice %s as the endpoint takes it', async (voice, told) => {
  const server = await speechServer()
  await said(server, voice)
  expect(server.asked[0]?.voice).toEqual(told)
})

/** Half a second of a tone of 400 Hz. */
const tone = (hz: number) => Array.from({ length: hz / 2 }, (_, at) => 8_000 * Math.sin((2 * Math.PI * 400 * at) / hz))
/** Loud for so long, as many samples a second. */
const lasting = (seconds: number, samplesPerSecond: number) =>
  Array.from({ length: seconds * samplesPerSecond }, (_, at) => (at % 2 ? 8_000 : 7_000))
const pcm = (hz: number) => Buffer.from(Int16Array.from(tone(hz)).buffer)

describe('An endpoint that speaks for long', () => {
  it('is heard for half a minute in the widest sound there is', async () => {
    const server = await speechServer()
    server.answer({
      bytes: wavFile({ hz: 44_100, channels: 2, samples: lasting(30, 44_100 * 2) }),
      contentType: 'audio/wav',
    })
    expect((await said(server)).length).toBeGreaterThan(29 * 8_000)
  })

  it.each([
    ['bare PCM', 'audio/pcm', Buffer.from(Int16Array.from(lasting(61, 24_000)).buffer)],
    ['PCM of a rate that it tells', 'audio/pcm; rate=8000', Buffer.from(Int16Array.from(lasting(61, 8_000)).buffer)],
    ['the audio of the telephone', 'audio/basic', Buffer.alloc(61 * 8_000)],
  ])('is told for more than a minute: %s', async (_what, contentType, bytes) => {
    const server = await speechServer()
    server.answer({ bytes, contentType })
    const tooLong = 'the speech model speaks for more than a minute'
    await expect(said(server)).rejects.toMatchObject({ message: tooLong, isLasting: true })
  })
})

describe('An endpoint that answers otherwise than it is asked', () => {
  it.each([
    ['bare PCM that is called MP3', 'audio/mpeg', pcm(24_000)],
    ['PCM of a rate that it tells', 'audio/pcm; rate=16000', pcm(16_000)],
    ['the audio of the telephone, and says its rate', 'Audio/Basic; rate=8000', Buffer.from(tone(8_000).map(mulaw))],
    ['WAV of another rate', 'audio/wav', wavFile({ hz: 44_100, samples: tone(44_100) })],
    ['WAV that is called PCM', 'audio/pcm', wavFile({ hz: 24_000, samples: tone(24_000) })],
  ])('is heard as it speaks: %s', async (_what, contentType, bytes) => {
    const server = await speechServer()
    server.answer({ bytes, contentType })
    const samples = [...(await said(server))].map(sampleOf)
    const rises = samples.filter((sample, at) => sample > 0 && (samples[at - 1] ?? 1) <= 0).length
    expect(Math.abs(samples.length - 4_000)).toBeLessThan(10)
    expect(Math.abs(rises - 200)).toBeLessThan(3)
  })

  it.each([
    ['a page', 'text/html; charset=utf-8', Buffer.from('<html>Try again later.</html>')],
    ['a refusal', 'application/json', Buffer.from('{"error":{"message":"No such model."}}')],
    ['MP3', 'audio/mpeg', Buffer.from([0xff, 0xfb, 0x90, 0x64, ...Array<number>(400).fill(0x55)])],
    ['MP3 that is called PCM', 'audio/pcm', Buffer.concat([Buffer.from('ID3\x04'), Buffer.alloc(400, 0x55)])],
    ['AAC', 'audio/aac', Buffer.from([0xff, 0xf1, 0x50, ...Array<number>(400).fill(0x55)])],
    ['Opus', 'audio/ogg', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(400, 0x55)])],
    ['WAV of another coding', 'audio/wav', wavFile({ hz: 24_000, coding: 3, bits: 8, bytes: Buffer.alloc(400, 0x55) })],
  ])('is not heard as noise: %s', async (_what, contentType, bytes) => {
    const server = await speechServer()
    server.answer({ bytes, contentType })
    await expect(said(server)).rejects.toMatchObject({ name: 'SpeechFault', isGone: true })
  })
})

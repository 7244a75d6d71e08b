import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeMulaw, encodeMulaw, silence } from '../audio/mulaw.ts'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech } from '../speech/speech.ts'
import { InputAudio } from './input-audio.ts'
import type { TurnDetection } from './session-config.ts'
import type { Completeness, TurnEvent } from './turn-detector.ts'
import { loadVoiceActivity, type VoiceActivity } from './voice-activity.ts'

const speech = makeSpeech({ phraseBook: makePhraseBook() })
let makeActivity: () => VoiceActivity
beforeAll(async () => {
  makeActivity = await loadVoiceActivity()
})
afterAll(() => speech.close())

type ServerVad = Extract<TurnDetection, { type: 'server_vad' }>
const USUAL: ServerVad = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  idle_timeout_ms: null,
  create_response: false,
  interrupt_response: false,
}

function turnsIn(audio: Uint8Array, settings: TurnDetection = USUAL, words: Completeness = 'unknown'): TurnEvent[] {
  const input = new InputAudio(makeActivity(), () => words)
  const events: TurnEvent[] = []
  // Pieces of no particular length: a client need not send whole frames.
  for (let at = 0; at < audio.length; at += 233) events.push(...input.append(audio.subarray(at, at + 233), settings))
  input.close()
  return events
}

function noise(durationMs: number, dbfs: number, random = lehmer(7)): Uint8Array {
  const peak = 32768 * 10 ** (dbfs / 20) * Math.sqrt(3)
  return encodeMulaw(Int16Array.from({ length: durationMs * 8 }, () => (random() * 2 - 1) * peak))
}

function mixed(a: Uint8Array, b: Uint8Array, gain = 1): Uint8Array {
  const other = decodeMulaw(b)
  return encodeMulaw(
    decodeMulaw(a).map((sample, i) => Math.max(-32768, Math.min(32767, sample * gain + (other[i] ?? 0)))),
  )
}

/** Random enough for noise, and the same in every run. */
function lehmer(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

async function said(text: string, beforeMs = 1_000, afterMs = 1_500): Promise<{ audio: Uint8Array; endMs: number }> {
  const phrase = await speech.say(text)
  return { audio: Buffer.concat([silence(beforeMs), phrase, silence(afterMs)]), endMs: beforeMs + phrase.length / 8 }
}

describe('finding turns', () => {
  it.each(['Yes.', 'Stop!', 'No, thank you.', 'I would like to speak to somebody about my last bill.'])(
    'hears "%s"',
    async (text) => {
      const { audio, endMs } = await said(text)
      const [started, stopped, ...more] = turnsIn(audio)
      expect(started).toMatchObject({ kind: 'started' })
      expect(started?.startMs).toBeGreaterThan(650)
      expect(started?.startMs).toBeLessThan(900)
      expect(stopped?.kind === 'stopped' && Math.abs(stopped.endMs - 500 - endMs)).toBeLessThanOrEqual(140)
      expect(more).toEqual([])
    },
  )

  it('honours the padding in front, but never reaches into the turn before', async () => {
    const { audio } = await said('Hello there.')
    const startMs = (prefix: number) => turnsIn(audio, { ...USUAL, prefix_padding_ms: prefix })[0]?.startMs ?? 0
    expect(startMs(0) - startMs(300)).toBe(300)
    expect(startMs(5_000)).toBe(0)
    const twice = Buffer.concat([audio, (await said('Hello again.', 0)).audio])
    const turns = turnsIn(twice, { ...USUAL, prefix_padding_ms: 5_000 }).filter(({ kind }) => kind === 'stopped')
    expect(turns[1]?.startMs).toBe(turns[0]?.kind === 'stopped' && turns[0].endMs)
  })

  it('honours the silence that ends a turn', async () => {
    const phrase = await speech.say('One moment')
    const pause = Buffer.concat([silence(300), phrase, silence(600), phrase, silence(1_500)])
    const count = (ms: number) =>
      turnsIn(pause, { ...USUAL, silence_duration_ms: ms }).filter(({ kind }) => kind === 'stopped').length
    expect([count(400), count(900)]).toEqual([2, 1])
  })

  it('honours the threshold: a faint voice is speech to a low one only', async () => {
    const { audio } = await said('Can you hear me now? I am far away from the telephone.')
    const faint = mixed(audio, noise(audio.length / 8, -62), 0.02)
    expect(turnsIn(faint, { ...USUAL, threshold: 0.05 })).not.toEqual([])
    expect(turnsIn(faint, { ...USUAL, threshold: 0.99 })).toEqual([])
  })

  it.each([-50, -35, -20])('does not take noise of %i dBFS for speech, wherever it begins', (dbfs) => {
    expect(turnsIn(noise(4_000, dbfs))).toEqual([])
    expect(turnsIn(Buffer.concat([silence(1_000), noise(4_000, dbfs), silence(1_000)]))).toEqual([])
  })

  it('hears speech through noise', async () => {
    const { audio, endMs } = await said('I would like to book a table for two.', 2_500)
    const [started, stopped, ...more] = turnsIn(mixed(audio, noise(audio.length / 8, -38)))
    expect(started?.startMs).toBeGreaterThan(2_000)
    expect(stopped?.kind === 'stopped' && Math.abs(stopped.endMs - 500 - endMs)).toBeLessThanOrEqual(140)
    expect(more).toEqual([])
  })

  it('waits by eagerness and by what was said when it is semantic', async () => {
    const { audio, endMs } = await said('Well', 500, 9_000)
    const waitedMs = (eagerness: 'low' | 'high', words: Completeness) => {
      const settings = { type: 'semantic_vad' as const, eagerness, create_response: false, interrupt_response: false }
      const stopped = turnsIn(audio, settings, words)[1]
      return stopped?.kind === 'stopped' ? stopped.endMs - endMs : 0
    }
    expect(waitedMs('low', 'whole')).toBeLessThan(450)
    expect(waitedMs('high', 'unknown')).toBeLessThan(waitedMs('low', 'unknown'))
    expect(Math.round(waitedMs('high', 'trailing_off') / 1_000)).toBe(2)
    expect(Math.round(waitedMs('low', 'trailing_off') / 1_000)).toBe(8)
  })
})

describe('InputAudio', () => {
  it('commits what came since the last commit, and refuses less than 100 ms', () => {
    const input = new InputAudio(makeActivity(), () => 'unknown')
    input.append(noise(250, -20), null)
    expect(input.commit()).toMatchObject({ startMs: 0, endMs: 250 })
    input.append(silence(99), null)
    expect(() => input.commit()).toThrow('Expected at least 100ms of audio, but buffer only has 99.00ms of audio.')
    input.append(silence(1), null)
    expect(input.commit()).toMatchObject({ startMs: 250, endMs: 350 })
    input.append(silence(500), null)
    input.clear()
    expect(() => input.commit()).toThrow('buffer only has 0.00ms')
    input.close()
  })

  it('gives the audio of a turn as it came', async () => {
    const { audio } = await said('Exactly these bytes.')
    const input = new InputAudio(makeActivity(), () => 'unknown')
    const stopped = input.append(audio, USUAL).find((event) => event.kind === 'stopped')
    if (!stopped) throw new Error('no turn was found')
    expect(Buffer.from(input.take(stopped).audio)).toEqual(
      Buffer.from(audio.subarray(stopped.startMs * 8, stopped.endMs * 8)),
    )
    input.close()
  })
})

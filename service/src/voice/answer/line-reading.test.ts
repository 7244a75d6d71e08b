import { describe, expect, it } from 'vitest'
import { frames, mixed, noise, quiet, tones, voice } from './line.fixture.ts'
import { LineReading, type LineSound } from './line-reading.ts'

function heard(...sounds: number[][]): LineSound[] {
  const told: LineSound[] = []
  const reading = new LineReading((sound) => told.push(sound))
  for (const frame of frames(...sounds)) reading.caller(frame)
  return told
}

const kinds = (sounds: LineSound[]) => sounds.map(({ kind }) => kind)
const toneOf = (sounds: LineSound[]) => sounds.find((sound) => sound.kind === 'tone')

describe('A line that is listened to', () => {
  it('tells how long somebody has spoken, once it is quiet', () => {
    const [began, ended, ...more] = heard(quiet(400), voice(1_200), quiet(600))
    expect([began?.kind, ended?.kind, more]).toEqual(['speech_began', 'speech_ended', []])
    expect(ended?.kind === 'speech_ended' && Math.abs(ended.ms - 1_200)).toBeLessThanOrEqual(60)
  })

  it('tells the same of frames of any length', () => {
    const pieces = frames(quiet(400), voice(1_200), quiet(600))
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece.toString('latin1'), 'base64')))
    const expected = heard(quiet(400), voice(1_200), quiet(600))
    for (const size of [80, 161, 1_600, 3_200, bytes.length]) {
      const told: LineSound[] = []
      const reading = new LineReading((sound) => told.push(sound))
      for (let at = 0; at < bytes.length; at += size) {
        reading.caller(Buffer.from(bytes.subarray(at, at + size).toString('base64')))
      }
      expect(told).toEqual(expected)
    }
  })

  it('takes short pauses for a part of speech, and long ones for its end', () => {
    expect(kinds(heard(voice(600), quiet(300), voice(600), quiet(600)))).toEqual(['speech_began', 'speech_ended'])
    expect(kinds(heard(voice(600), quiet(600), voice(600), quiet(600)))).toHaveLength(4)
  })

  it.each([
    ['nothing', quiet(2_000)],
    ["a line's own noise", noise(2_000, 250)],
    ['a click', [...quiet(500), ...noise(40, 9_000), ...quiet(500)]],
  ])('tells nothing of %s', (_, sound) => {
    expect(heard(sound)).toEqual([])
  })

  it.each([
    [440, 200],
    [850, 400],
    [1_000, 500],
    [1_400, 160],
    [2_000, 900],
  ])('knows a beep of %i Hz that is %i ms long', (hz, ms) => {
    const sounds = heard(voice(2_000), quiet(200), tones([hz], ms), quiet(600))
    const tone = toneOf(sounds)
    expect(tone?.kind === 'tone' && [Math.abs(tone.hz - hz) < 15, Math.abs(tone.ms - ms) <= 40]).toEqual([true, true])
    expect(kinds(sounds)).toEqual(['speech_began', 'tone', 'speech_ended'].sort(bySequence(kinds(sounds))))
  })

  it('knows a beep that is quiet, and one in noise', () => {
    expect(toneOf(heard(quiet(300), tones([1_000], 400, 900), quiet(300)))).toBeDefined()
    expect(toneOf(heard(mixed(tones([1_000], 400, 6_000), noise(400, 600)), quiet(300)))).toBeDefined()
  })

  it.each([
    ['a voice', voice(4_000)],
    ['a high voice', voice(4_000, { pitchHz: 260 })],
    ['a voice that is nearly one tone', voice(4_000, { pitchHz: 420, only: 0.9 })],
    ['keys', [...tones([770, 1_336], 200), ...quiet(80), ...tones([941, 1_477], 200)]],
    ['ringing', tones([440, 480], 1_000)],
    ['noise', noise(2_000, 9_000)],
    ['a tone that swells', tones([1_000], 400).map((sample, at) => sample * (at / 3_200) ** 3)],
  ])('takes %s for no beep', (_, sound) => {
    expect(toneOf(heard(sound, quiet(600)))).toBeUndefined()
  })

  it('knows a fax machine by what it answers with, before that is over', () => {
    expect(heard(quiet(300), tones([2_100], 1_200))).toEqual([{ kind: 'fax', hz: 2_100 }])
    // Its phase is turned each 450 ms, which is no end of it.
    const turned = tones([2_100], 2_700).map((sample, at) => (Math.floor(at / 3_600) % 2 ? -sample : sample))
    expect(heard(quiet(300), turned).every(({ kind }) => kind === 'fax' || kind === 'tone')).toBe(true)
  })

  it('knows one that calls by its second tone: the first may be a beep', () => {
    const calling = [...tones([1_100], 500), ...quiet(3_000)]
    const sounds = heard(calling, calling)
    expect(sounds.map(({ kind }) => kind)).toEqual(['tone', 'fax'])
    expect(kinds(heard(tones([1_100], 500), quiet(1_000), tones([1_100], 500), quiet(500)))).toEqual(['tone', 'tone'])
  })
})

/** Speech is told to be over when it has been quiet for a while: a beep may come before that. */
function bySequence(told: string[]): (a: string, b: string) => number {
  return (a, b) => told.indexOf(a) - told.indexOf(b)
}

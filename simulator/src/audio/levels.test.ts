import { describe, expect, it } from 'vitest'
import { levelDbfs, seamStepDb, talkSpans, voicedShare } from './levels.ts'
import { encodeMulaw, silence } from './mulaw.ts'
import { tone } from './tone.ts'

const speech = (durationMs: number) => tone([300], durationMs, 8000)
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

describe('levels', () => {
  it('measures a sine of amplitude 8000 at 15.3 dB below full scale, and silence at the floor', () => {
    expect(levelDbfs(speech(200))).toBeCloseTo(20 * Math.log10(8000 / Math.SQRT2 / 32768), 0)
    expect(levelDbfs(silence(200))).toBe(-120)
  })

  it('counts the share of voiced frames', () => {
    expect(voicedShare(join(speech(300), silence(700)))).toBeCloseTo(0.3, 2)
    expect(voicedShare(new Uint8Array())).toBe(0)
  })

  it('joins utterances over a short pause and parts them at a long one', () => {
    const audio = join(silence(100), speech(200), silence(200), speech(200), silence(400), speech(100))
    expect(talkSpans(audio)).toEqual([
      { startMs: 100, endMs: 700 },
      { startMs: 1100, endMs: 1200 },
    ])
  })
})

describe('seamStepDb', () => {
  it('is quiet where one wave was cut and joined at the same place', () => {
    expect(seamStepDb(speech(200), 801)).toBeLessThanOrEqual(0)
  })

  it('hears the click where a piece of a wave is missing', () => {
    const samples = Int16Array.from({ length: 800 }, (_, i) => 8000 * Math.cos((2 * Math.PI * 50 * i) / 8000))
    const cut = encodeMulaw(Int16Array.of(...samples.slice(0, 400), ...samples.slice(480)))
    expect(seamStepDb(cut, 400)).toBeGreaterThan(12)
  })

  it('takes a soft start after silence for no click', () => {
    expect(seamStepDb(join(silence(50), speech(50)), 400)).toBeLessThanOrEqual(12)
  })
})

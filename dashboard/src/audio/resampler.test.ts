import { describe, expect, it } from 'vitest'
import { Resampler } from './resampler.ts'

const SETTLED_S = 0.05

function tone(hz: number, rateHz: number, seconds = 0.5): Float32Array {
  return Float32Array.from({ length: rateHz * seconds }, (_none, at) => Math.sin((2 * Math.PI * hz * at) / rateHz))
}

/** How loud it is, without its beginning. */
function loudness(samples: Float32Array, rateHz: number): number {
  const settled = samples.subarray(Math.round(SETTLED_S * rateHz))
  return Math.sqrt(settled.reduce((sum, sample) => sum + sample * sample, 0) / settled.length)
}

describe('Resampler', () => {
  it.each([
    [48_000, 8_000],
    [44_100, 8_000],
    [8_000, 48_000],
    [8_000, 44_100],
    [8_000, 8_000],
  ])('keeps a voice from %i to %i Hz', (fromHz, toHz) => {
    const made = new Resampler(fromHz, toHz).push(tone(1_000, fromHz))
    expect(loudness(made, toHz)).toBeCloseTo(Math.SQRT1_2, 2)
    const lateS = made.length / toHz - 0.5
    expect(Math.abs(lateS)).toBeLessThan(0.003)
  })

  it('lets nothing through that would come back as another tone', () => {
    const made = new Resampler(48_000, 8_000).push(tone(5_000, 48_000))
    expect(loudness(made, 8_000)).toBeLessThan(0.001)
  })

  it.each([128, 441, 1])('gives the same in blocks of %i samples as in one', (size) => {
    const whole = tone(700, 44_100, 0.1)
    const pieces = new Resampler(44_100, 8_000)
    const made: number[] = []
    for (let at = 0; at < whole.length; at += size) made.push(...pieces.push(whole.subarray(at, at + size)))
    expect(made).toEqual([...new Resampler(44_100, 8_000).push(whole)])
  })

  it('refuses a rate that there is not', () => {
    expect(() => new Resampler(0, 8_000)).toThrow(RangeError)
  })
})

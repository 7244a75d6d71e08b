import { describe, expect, it } from 'vitest'
import { rms } from './levels.ts'
import { makeResampler, resample } from './resample.ts'

const sine = (hz: number, rateHz: number, seconds: number) =>
  Int16Array.from({ length: rateHz * seconds }, (_, i) => 10_000 * Math.sin((2 * Math.PI * hz * i) / rateHz))

describe('resample', () => {
  it('keeps length, level and place of a tone that fits the new rate', async () => {
    const out = await resample(sine(1000, 16_000, 1), 16_000, 8000)
    expect(out).toHaveLength(8000)
    const expected = sine(1000, 8000, 1)
    const error = out.map((sample, i) => sample - (expected[i] ?? 0)).slice(100, -100)
    expect(rms(error)).toBeLessThan(200)
  })

  it('removes a tone that would alias', async () => {
    const out = await resample(sine(6000, 16_000, 1), 16_000, 8000)
    expect(rms(out.slice(100, -100))).toBeLessThan(30)
  })

  it('gives the same samples in blocks as in one piece', async () => {
    const input = sine(440, 24_000, 1)
    const whole = await resample(input, 24_000, 8000)
    const stream = await makeResampler(24_000, 8000)
    const parts: number[] = []
    for (let at = 0; at < input.length; at += 480) parts.push(...stream.push(input.subarray(at, at + 480)))
    parts.push(...stream.finish())
    expect(Int16Array.from(parts.slice(0, whole.length))).toEqual(whole)
  })

  it('refuses a rate that no audio has', async () => {
    await expect(makeResampler(0, 8000)).rejects.toThrow(RangeError)
  })
})

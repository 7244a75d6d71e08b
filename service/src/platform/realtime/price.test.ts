import { describe, expect, it } from 'vitest'
import { costOf, type ModelPrice, roundedUsd } from './price.ts'

const PRICE: ModelPrice = {
  text: { input: 4, cachedInput: 0.4, output: 16 },
  audio: { input: 32, cachedInput: 0.4, output: 64 },
}
const usage = { inputTokens: 1_000, outputTokens: 500, cachedTokens: 600, audioSeconds: 9 }

describe('what an answer cost', () => {
  it('is the sum of its tokens, each kind at its own price', () => {
    const audioTokens = { input: 700, output: 400, cached: 500 }
    const text = (300 - 100) * 4 + 100 * 0.4 + 100 * 16
    const audio = (700 - 500) * 32 + 500 * 0.4 + 400 * 64
    expect(costOf(PRICE, { ...usage, audioTokens })).toBeCloseTo((text + audio) / 1e6, 12)
  })

  it('takes for audio what it was not told of', () => {
    expect(costOf(PRICE, usage)).toBeCloseTo((400 * 32 + 600 * 0.4 + 500 * 64) / 1e6, 12)
  })

  it('is never less than nothing, whatever a provider tells', () => {
    const audioTokens = { input: 5_000, output: 5_000, cached: 9_000 }
    expect(costOf(PRICE, { ...usage, audioTokens })).toBeCloseTo((5_000 * 0.4 + 5_000 * 64) / 1e6, 12)
    const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 7, audioSeconds: 0 }
    expect(costOf(PRICE, nothing)).toBe(0)
  })

  it('is kept to the millionth of a dollar', () => expect(roundedUsd(0.1 + 0.2 + 0.000_000_4)).toBe(0.3))
})

import { describe, expect, it } from 'vitest'
import { PRICES, priceOf } from './prices.ts'

describe('the price of a model', () => {
  it('is that of the table, also for a snapshot of it', () => {
    expect(priceOf('gpt-realtime')?.audio).toEqual({ input: 32, cachedInput: 0.4, output: 64 })
    expect(priceOf('gpt-realtime-2025-08-28')).toBe(priceOf('gpt-realtime'))
    expect(priceOf('gpt-realtime-mini-2025-10-06')).toBe(priceOf('gpt-realtime-mini'))
  })

  it.each(['', 'gpt-realtime-9', 'my-own-model', 'constructor', '__proto__'])('is not known of %j', (model) => {
    expect(priceOf(model)).toBeNull()
  })

  it('is never nothing, and never dearer for what is cached', () => {
    for (const { text, audio } of Object.values(PRICES)) {
      for (const rate of [text, audio]) {
        expect(Math.min(rate.input, rate.cachedInput, rate.output)).toBeGreaterThan(0)
        expect(rate.cachedInput).toBeLessThan(rate.input)
      }
      expect(audio.input).toBeGreaterThanOrEqual(text.input)
    }
  })
})

import { describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { findPatterns, patternFault } from './pattern-search.ts'

const texts = ['Table seven is yours.', 'Goodbye.']
const AT_LEISURE_MS = 60_000

describe('findPatterns', () => {
  it('finds what matches any of the texts, upper case like lower', async () => {
    const patterns = ['^table (six|seven)\\b', 'good$', '\\p{L}bye', 'GOODBYE']
    const found = await findPatterns(systemClock, { patterns, texts, withinMs: AT_LEISURE_MS })
    expect(found).toEqual([true, false, true, true])
    expect(await findPatterns(systemClock, { patterns: [], texts, withinMs: AT_LEISURE_MS })).toEqual([])
  })

  it('gives up on what takes for ever, and holds nobody up meanwhile', async () => {
    let beats = 0
    const cancel = systemClock.every(10, () => {
      beats += 1
    })
    const endless = { patterns: ['^(a+)+$'], texts: [`${'a'.repeat(60)}!`] }
    expect(await findPatterns(systemClock, { ...endless, withinMs: 500 })).toEqual([null])
    cancel()
    expect(beats).toBeGreaterThan(1)
  })
})

describe('patternFault', () => {
  it('says what is wrong with what is no regular expression', () => {
    expect(patternFault('(')).toMatch(/Unterminated group/)
    expect(patternFault('^a+$')).toBeNull()
  })
})

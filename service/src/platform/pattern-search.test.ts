import { describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { makePatternSearch, patternFault } from './pattern-search.ts'

const texts = ['Table seven is yours.', 'Goodbye.']
const AT_LEISURE_MS = 60_000

const endless = { patterns: ['^(a+)+$'], texts: [`${'a'.repeat(60)}!`] }

describe('makePatternSearch', () => {
  const findPatterns = makePatternSearch(systemClock)

  it('finds what matches any of the texts, upper case like lower', async () => {
    const patterns = ['^table (six|seven)\\b', 'good$', '\\p{L}bye', 'GOODBYE']
    const found = await findPatterns({ patterns, texts, withinMs: AT_LEISURE_MS })
    expect(found).toEqual([true, false, true, true])
    expect(await findPatterns({ patterns: [], texts, withinMs: AT_LEISURE_MS })).toEqual([])
  })

  it('gives up on what takes for ever, and holds nobody up meanwhile', async () => {
    let beats = 0
    const cancel = systemClock.every(10, () => {
      beats += 1
    })
    expect(await findPatterns({ ...endless, withinMs: 500 })).toEqual([null])
    cancel()
    expect(beats).toBeGreaterThan(1)
  })
})

describe('searches that are asked for at once', () => {
  it('are done one after the other, and one that never ends keeps none behind it from its answer', async () => {
    const findPatterns = makePatternSearch(systemClock)
    const ends: string[] = []
    const asked = [
      findPatterns({ ...endless, withinMs: 300 }).then(() => ends.push('endless')),
      findPatterns({ patterns: ['bye'], texts, withinMs: AT_LEISURE_MS }).then(([found]) => ends.push(`${found}`)),
    ]
    await Promise.all(asked)
    expect(ends).toEqual(['endless', 'true'])
  })
})

describe('patternFault', () => {
  it('says what is wrong with what is no regular expression', () => {
    expect(patternFault('(')).toMatch(/Unterminated group/)
    expect(patternFault('^a+$')).toBeNull()
  })
})

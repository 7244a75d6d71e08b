import { describe, expect, it } from 'vitest'
import { DASH, usdText } from './text.ts'

describe('an amount in US dollars', () => {
  it.each([
    [0, '$0'],
    [0.0433, '$0.0433'],
    [0.106, '$0.106'],
    [12.345, '$12.35'],
    [null, DASH],
  ])('writes %j as %s, wherever it stands', (usd, text) => expect(usdText(usd)).toBe(text))
})

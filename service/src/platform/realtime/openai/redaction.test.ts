import { describe, expect, it } from 'vitest'
import { makeRedaction } from './redaction.ts'

describe('makeRedaction', () => {
  it.each([
    ['a key of mine-1234 is wrong', 'a key of *** is wrong'],
    ['Incorrect: sk-proj-ab*****wxyz. See the page.', 'Incorrect: ***. See the page.'],
    ['risk-free', 'risk-free'],
    ['nothing secret', 'nothing secret'],
  ])('makes of %j %j', (message, redacted) => {
    expect(makeRedaction('mine-1234')(message)).toBe(redacted)
  })

  it('cuts long words short, in no character, and needs no key', () => {
    expect(makeRedaction('')('x'.repeat(5_000))).toBe('x'.repeat(500))
    expect(makeRedaction('')(`x${'😀'.repeat(500)}`).isWellFormed()).toBe(true)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId, secretBytes, secretText } from './ids.ts'

const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('newId', () => {
  it('is a UUID of version 7 and the standard variant, whatever the instant', () => {
    fc.assert(
      fc.property(instant, (ms) => {
        expect(newId(ms)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
  })

  it('sorts by its instant', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        fc.pre(a !== b)
        expect(newId(a) < newId(b)).toBe(a < b)
      }),
    )
  })

  it('sorts by its position in one millisecond, and is a UUID of version 7 all the same', () => {
    const position = fc.integer({ min: 0, max: 2 ** 18 - 1 })
    fc.assert(
      fc.property(instant, position, position, (ms, a, b) => {
        fc.pre(a !== b)
        expect(newId(ms, a) < newId(ms, b)).toBe(a < b)
        expect(newId(ms, a)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
  })

  it('takes the part of a millisecond, as a measured instant has, for nothing', () => {
    expect(newId(1.9).slice(0, 13)).toBe('00000000-0001')
  })

  it('is never the same twice, in one millisecond either', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId(1))).size).toBe(10_000)
  })
})

describe('secrets', () => {
  it('are as long as asked, and never the same twice', () => {
    expect(secretBytes(32)).toHaveLength(32)
    expect(secretText(32)).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(new Set(Array.from({ length: 1_000 }, () => secretText(16))).size).toBe(1_000)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTimes, mergeTimes, packTimes, percentileMs, readTimes, timesIn, unpackTimes } from './response-times.ts'

/** What the database does with such numbers: it adds them, and writes the sum out. */
function summed(texts: (string | null)[]): string | null {
  const given = texts.filter((text) => text !== null)
  if (given.length === 0) return null
  const parts = given.map((text) => text.split('e') as [string, string])
  return String(parts.reduce((sum, [digits, zeros]) => sum + BigInt(digits) * 10n ** BigInt(zeros), 0n))
}

const someTimes = fc.array(fc.integer({ min: 1, max: 74_000 }), { minLength: 1, maxLength: 60 })

describe('a histogram of response times', () => {
  it('is merged by adding numbers, in any order and by any parts', () => {
    fc.assert(
      fc.property(fc.array(someTimes, { maxLength: 8 }), (parts) => {
        const packed = parts.map((times) => packTimes(countTimes(times)))
        const all = countTimes(parts.flat())
        expect(readTimes(summed(packed))).toEqual(new Map([...all].toSorted(([a], [b]) => a - b)))
        expect(readTimes(summed(packed.toReversed()))).toEqual(readTimes(summed(packed)))
        expect(timesIn(mergeTimes(parts.map(countTimes)))).toBe(parts.flat().length)
      }),
    )
  })

  it('knows each percentile to 4 %', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 50, max: 74_000 }), { minLength: 1 }),
        fc.constantFrom(50, 95),
        (times, p) => {
          const inOrder = times.toSorted((a, b) => a - b)
          const exact = inOrder[Math.ceil((inOrder.length * p) / 100) - 1] ?? 0
          const about = percentileMs(countTimes(times), p) ?? 0
          expect(Math.abs(about - exact)).toBeLessThanOrEqual(0.04 * exact + 1)
        },
      ),
    )
  })

  it('has no percentile of nothing, and counts what is very short or long in its first and last bin', () => {
    expect(packTimes(countTimes([]))).toBeNull()
    expect(percentileMs(readTimes(null), 50)).toBeNull()
    expect([...countTimes([0, 12, 50]).entries()]).toEqual([[0, 3]])
    expect([...countTimes([80_000, 9e9]).entries()]).toEqual([[95, 2]])
  })

  it('is read as it was written', () => {
    fc.assert(
      fc.property(someTimes, (times) => {
        const packed = packTimes(countTimes(times))
        expect(packTimes(unpackTimes(packed))).toBe(packed)
      }),
    )
    expect(unpackTimes(null).size).toBe(0)
  })

  it('counts nearly ten thousand million answers in a bin without touching the next one', () => {
    expect(readTimes('9999999999')).toEqual(new Map([[0, 9_999_999_999]]))
  })
})

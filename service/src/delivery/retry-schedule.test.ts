import { describe, expect, it } from 'vitest'
import { nextDelayMs, readRetryAfter } from './retry-schedule.ts'

const HOUR_MS = 3_600_000

function delays(chance: number): (number | null)[] {
  return Array.from({ length: 9 }, (_, n) => nextDelayMs({ tries: n + 1, retryAfterMs: null, chance }))
}

describe('the schedule of attempts', () => {
  it('is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, then nothing', () => {
    const hours = [2, 5, 10, 10].map((n) => n * HOUR_MS)
    expect(delays(0)).toEqual([5_000, 300_000, 1_800_000, ...hours, null, null])
  })

  it('adds a fifth at most, by chance', () => {
    expect(delays(1).slice(0, 2)).toEqual([6_000, 360_000])
    expect(delays(0.5)[0]).toBe(5_500)
  })

  it('waits as long as the target asks, a day at most, and never less than it would', () => {
    const asked = (retryAfterMs: number) => nextDelayMs({ tries: 2, retryAfterMs, chance: 0 })
    expect([1_000, 600_000, 1_000 * HOUR_MS, Number.POSITIVE_INFINITY].map(asked)).toEqual([
      ...[300_000, 600_000],
      ...[24 * HOUR_MS, 24 * HOUR_MS],
    ])
    expect(nextDelayMs({ tries: 8, retryAfterMs: 1_000, chance: 0 })).toBeNull()
  })
})

describe('Retry-After', () => {
  const nowMs = Date.UTC(2030, 0, 1)
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Tue, 01 Jan 2030 00:02:00 GMT', 120_000],
    ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1.5', null],
    ['99999999999999', 99_999_999_999_999_000],
    ['', null],
    [undefined, null],
    [['1', '2'], null],
  ] as [string | string[] | undefined, number | null][])('%j is %j ms', (value, expected) => {
    expect(readRetryAfter(value, nowMs)).toBe(expected)
  })
})

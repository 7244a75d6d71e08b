/**
 * How long callers waited for answers, as a histogram whose bins grow by 8 %: a percentile read from it is at most 4 % off.
 *
 * It is written as one number, ten decimal digits for each bin, the lowest bin last: the database adds such numbers, which
 * merges the histograms, exactly and in any order.
 */
const DIGITS = 10
const FIRST_BIN_MS = 50
const GROWTH = 1.08
/** The last bin holds everything from 75 s on. */
const BINS = 96

/** Counts by bin; a bin without an answer is not there. */
export type ResponseTimes = Map<number, number>

/** Counts times, each in ms. */
export function countTimes(timesMs: readonly number[]): ResponseTimes {
  const counts: ResponseTimes = new Map()
  for (const ms of timesMs) add(counts, binOf(ms), 1)
  return counts
}

/** The histogram as the text of a number, such as `30000000001e40`; null of no time. */
export function packTimes(counts: ResponseTimes): string | null {
  if (counts.size === 0) return null
  const bins = [...counts.keys()]
  const [lowest, highest] = [Math.min(...bins), Math.max(...bins)]
  const slots = Array.from({ length: highest - lowest + 1 }, (_, i) => counts.get(highest - i) ?? 0)
  const digits = slots.map((count) => String(count).padStart(DIGITS, '0')).join('')
  return `${digits.replace(/^0+/, '')}e${lowest * DIGITS}`
}

/** Reads what `packTimes` has written; null is a histogram of nothing. */
export function unpackTimes(packed: string | null): ResponseTimes {
  if (packed === null) return new Map()
  const [digits = '', zeros = '0'] = packed.split('e')
  return readTimes(digits + '0'.repeat(Number(zeros)))
}

/** Reads what the database makes of such numbers, written out without an exponent; null is a histogram of nothing. */
export function readTimes(number: string | null): ResponseTimes {
  const counts: ResponseTimes = new Map()
  if (number === null) return counts
  for (let bin = 0, end = number.length; end > 0; bin += 1, end -= DIGITS) {
    const count = Number(number.slice(Math.max(0, end - DIGITS), end))
    if (count > 0) counts.set(bin, count)
  }
  return counts
}

/** All that is in the histograms. */
export function mergeTimes(histograms: readonly ResponseTimes[]): ResponseTimes {
  const merged: ResponseTimes = new Map()
  for (const histogram of histograms) for (const [bin, count] of histogram) add(merged, bin, count)
  return merged
}

/** How many times it has counted. */
export function timesIn(counts: ResponseTimes): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** About the smallest time, in whole ms, that so many percent do not exceed; null of none. */
export function percentileMs(counts: ResponseTimes, percent: number): number | null {
  const rank = Math.max(1, Math.ceil((timesIn(counts) * percent) / 100))
  let seen = 0
  for (const [bin, count] of [...counts].toSorted(([a], [b]) => a - b)) {
    seen += count
    if (seen >= rank) return Math.round(middleMs(bin))
  }
  return null
}

function binOf(ms: number): number {
  if (ms <= FIRST_BIN_MS) return 0
  return Math.min(BINS - 1, Math.ceil(Math.log(ms / FIRST_BIN_MS) / Math.log(GROWTH)))
}

/** What is as far from both ends of a bin, as a share of them. */
function middleMs(bin: number): number {
  return FIRST_BIN_MS * GROWTH ** (bin - 0.5)
}

function add(counts: ResponseTimes, bin: number, count: number): void {
  counts.set(bin, (counts.get(bin) ?? 0) + count)
}

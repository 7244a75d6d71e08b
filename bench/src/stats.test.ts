import { describe, expect, it } from 'vitest'
import { median, percentile, spread } from './stats.ts'

describe('median', () => {
  it('is the middle value, whatever the order', () => expect(median([9, 1, 5])).toBe(5))
  it('is the mean of the two in the middle of an even number', () => expect(median([4, 1, 3, 100])).toBe(3.5))
  it('is not a number of nothing', () => expect(median([])).toBeNaN())
})

describe('spread', () => {
  it('is the distance between the ends, in medians', () => expect(spread([9, 10, 12])).toBeCloseTo(0.3))
  it('is 0 of a single value', () => expect(spread([7])).toBe(0))
})

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  it('is the value that so many do not exceed', () => expect(percentile(hundred, 99)).toBe(99))
  it('is the largest of a few', () => expect(percentile([3, 1, 2], 99)).toBe(3))
  it('is not a number of nothing', () => expect(percentile([], 99)).toBeNaN())
})

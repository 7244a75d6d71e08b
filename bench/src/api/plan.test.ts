import { describe, expect, it } from 'vitest'
import { zipfShares } from './plan.ts'

describe('shares after Zipf', () => {
  it.each([
    [1_000_000, 200],
    [50_000, 200],
    [7, 5],
  ])('of %i rows over %i tenants add up, and none is larger than the one before', (rows, tenants) => {
    const shares = zipfShares(rows, tenants)
    expect(shares).toHaveLength(tenants)
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(rows)
    expect(shares).toEqual(shares.toSorted((a, b) => b - a))
  })

  it('give the second half, and the tenth a tenth, of what the first has', () => {
    const [first = 0, second = 0, ...rest] = zipfShares(1_000_000, 200)
    expect(second / first).toBeCloseTo(1 / 2, 3)
    expect((rest[7] ?? 0) / first).toBeCloseTo(1 / 10, 3)
  })
})

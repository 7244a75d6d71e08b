import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseShare, hasTwoDecimals, hundredthsOf } from './rollout-shares.ts'

const CALLERS = 20_000
const callers = Array.from({ length: CALLERS }, (_, index) => `+1202${String(5_000_000 + index)}`)

/** Percentages with two decimals that add up to 100 at most. */
const shares = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 5 }).map((parts) => {
  const whole = Math.max(
    parts.reduce((sum, part) => sum + part, 0),
    10_000,
  )
  return parts.map((part, index) => ({ index, percentage: Math.floor((part / whole) * 10_000) / 100 }))
})

describe('chooseShare', () => {
  it('gives each share its part of the callers, and the rest to nobody', () => {
    fc.assert(
      fc.property(shares, fc.uuid(), (given, agentId) => {
        const counts = given.map(() => 0)
        for (const caller of callers) {
          const index = chooseShare(given, { agentId, caller })?.index
          if (index !== undefined) counts[index] = (counts[index] ?? 0) + 1
        }
        for (const { index, percentage } of given) {
          const wanted = percentage / 100
          const fiveSigma = 5 * Math.sqrt((wanted * (1 - wanted)) / CALLERS)
          expect(Math.abs((counts[index] ?? 0) / CALLERS - wanted)).toBeLessThanOrEqual(fiveSigma + 1e-9)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('sticks to the caller, also while the first share grows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.string(), fc.uuid(), (percentage, caller, agentId) => {
        const before = chooseShare([{ percentage }], { agentId, caller })
        expect(chooseShare([{ percentage }], { agentId, caller })).toEqual(before)
        if (before) expect(chooseShare([{ percentage: percentage + 1 }], { agentId, caller })).not.toBeNull()
      }),
    )
  })

  it('gives nothing to 0 percent and everything to 100', () => {
    for (const caller of callers.slice(0, 1_000)) {
      const share = chooseShare([{ percentage: 0 }, { percentage: 100 }], { agentId: 'a', caller })
      expect(share).toEqual({ percentage: 100 })
    }
  })

  it('places the same caller of two agents apart', () => {
    const placed = (agentId: string) =>
      callers.slice(0, 1_000).map((caller) => chooseShare([{ percentage: 50 }], { agentId, caller }) !== null)
    const [first, second] = [placed('a'), placed('b')]
    const same = first.filter((isIn, index) => isIn === second[index]).length
    expect(same).toBeGreaterThan(400)
    expect(same).toBeLessThan(600)
  })
})

describe('percentages', () => {
  it('with two decimals are told from others, and are exact in hundredths', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (hundredths) => {
        expect(hasTwoDecimals(hundredths / 100)).toBe(true)
        expect(hundredthsOf(hundredths / 100)).toBe(hundredths)
      }),
    )
    for (const percentage of [0.001, 33.333, 99.999]) expect(hasTwoDecimals(percentage)).toBe(false)
  })
})

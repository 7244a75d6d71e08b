import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseShare, hasTwoDecimals, hundredthsOf, startsOf } from './rollout-shares.ts'

const CALLERS = 20_000
const callers = Array.from({ length: CALLERS }, (_, index) => `+1202${String(5_000_000 + index)}`)

/** One that begins where the one before it ends. */
const ofFirst = (percentage: number) => ({ percentage, startsAt: null })

/** Percentages with two decimals that add up to 100 at most. */
const shares = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 5 }).map((parts) => {
  const whole = Math.max(
    parts.reduce((sum, part) => sum + part, 0),
    10_000,
  )
  return parts.map((part, index) => ({ index, startsAt: null, percentage: Math.floor((part / whole) * 10_000) / 100 }))
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
        const before = chooseShare([ofFirst(percentage)], { agentId, caller })
        expect(chooseShare([ofFirst(percentage)], { agentId, caller })).toEqual(before)
        if (before) expect(chooseShare([ofFirst(percentage + 1)], { agentId, caller })).not.toBeNull()
      }),
    )
  })

  it('gives nothing to 0 percent and everything to 100', () => {
    for (const caller of callers.slice(0, 1_000)) {
      const share = chooseShare([ofFirst(0), ofFirst(100)], { agentId: 'a', caller })
      expect(share).toEqual(ofFirst(100))
    }
  })

  it('places the same caller of two agents apart', () => {
    const placed = (agentId: string) =>
      callers.slice(0, 1_000).map((caller) => chooseShare([ofFirst(50)], { agentId, caller }) !== null)
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

describe('startsOf', () => {
  const entry = (agent_version_id: string, traffic_percentage: number) => ({ agent_version_id, traffic_percentage })
  const placed = (id: string, percentage: number, starts_at: number | null = null) => {
    return { ...entry(id, percentage), starts_at }
  }

  it.each([
    ['none was before', [entry('a', 20), entry('b', 30)], [], [0, 2_000]],
    ['one before them leaves', [entry('b', 30)], [placed('a', 20), placed('b', 30)], [2_000]],
    ['one before them shrinks', [entry('a', 10), entry('b', 30)], [placed('a', 20), placed('b', 30)], [0, 2_000]],
    ['one before them grows', [entry('a', 25), entry('b', 30)], [placed('a', 20), placed('b', 30)], [0, 2_500]],
    ['one grows behind a gap', [entry('b', 70)], [placed('b', 30, 2_000)], [2_000]],
    ['it has no room where it was', [entry('b', 90)], [placed('b', 30, 2_000)], [0]],
    ['one comes into a gap', [entry('c', 20), entry('b', 30)], [placed('b', 30, 2_000)], [0, 2_000]],
    ['they change places', [entry('b', 30), entry('a', 20)], [placed('a', 20), placed('b', 30)], [2_000, 5_000]],
    ['one before the last of all leaves', [entry('b', 80)], [placed('a', 20), placed('b', 80)], [2_000]],
    ['all is taken', [entry('b', 30), entry('a', 70)], [placed('b', 30, 2_000)], [0, 3_000]],
  ])('leaves shares where they were when %s, as far as there is room', (_what, entries, before, starts) => {
    expect(startsOf(entries, before)).toEqual(starts)
  })

  it('never lays one over another, or beyond all callers', () => {
    const list = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 25 })), {
      selector: ([id]) => id,
    })
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 8 }), (writes) => {
        let before: ReturnType<typeof placed>[] = []
        for (const write of writes) {
          const entries = write.map(([id, quarter]) => entry(id, quarter))
          const starts = startsOf(entries, before)
          before = entries.map((one, at) => placed(one.agent_version_id, one.traffic_percentage, starts[at] ?? -1))
          let end = 0
          for (const { starts_at, traffic_percentage } of before) {
            expect(starts_at).toBeGreaterThanOrEqual(end)
            end = Number(starts_at) + hundredthsOf(traffic_percentage)
          }
          expect(end).toBeLessThanOrEqual(10_000)
        }
      }),
    )
  })
})

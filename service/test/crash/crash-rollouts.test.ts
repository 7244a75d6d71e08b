import { describe, expect, it } from 'vitest'
import { numberOf, rolloutFaults, rolloutOf } from './crash-rollouts.ts'

const AGENT = { id: 'agent', versionIds: ['a', 'b'] } as const
const shares = (number: number) => rolloutOf(AGENT, number)

describe('the rollout of a number', () => {
  it('says which it is, also when numbers begin anew', () => {
    expect(shares(0)).toEqual([])
    expect(shares(1_234).map(({ traffic_percentage }) => traffic_percentage)).toEqual([12.34, 37.66])
    expect([0, 1, 4_000].map((number) => numberOf(shares(number)))).toEqual([0, 1, 4_000])
    expect(shares(4_001)).toEqual(shares(1))
  })

  it('is right when it was acknowledged last, or was tried after that', () => {
    for (const number of [0, 1]) expect(rolloutFaults(AGENT, shares(number), { tried: 1, acknowledged: 0 })).toEqual([])
  })

  it.each([
    ['an older one', shares(3)],
    ['one that nobody wrote', shares(6)],
    ['half of one', shares(5).slice(1)],
    ['none', []],
    ['both of two', [...shares(4), ...shares(5)]],
  ])('is not when it is %s', (_what, found) => {
    expect(rolloutFaults(AGENT, found, { tried: 5, acknowledged: 4 })).toHaveLength(1)
  })
})

import { expect, it } from 'vitest'
import { isSameShare, restOf, sharesOfOthers, sumOf, withShare } from './shares.ts'

const share = (id: string, percent: number) => ({ agent_version_id: id, traffic_percentage: percent })

it('leaves the rest, in hundredths, to the published version', () => {
  expect(restOf([])).toBe(100)
  expect(restOf([share('a', 33.33), share('b', 33.33)])).toBe(33.34)
})

it('adds up, in hundredths, what other versions than one have', () => {
  const shares = [share('a', 60), share('b', 10.1), share('c', 10.2)]
  expect(sumOf(sharesOfOthers(shares, 'a'))).toBe(20.3)
  expect(sumOf(sharesOfOthers(shares, 'none'))).toBe(80.3)
})

it('gives no version more than the others leave, nor less than nothing', () => {
  const shares = [share('a', 60), share('b', 10)]
  expect(withShare(shares, 'b', 70)).toEqual([share('a', 60), share('b', 40)])
  expect(withShare(shares, 'b', -5)).toEqual([share('a', 60), share('b', 0)])
  expect(withShare(shares, 'b', Number.NaN)).toEqual([share('a', 60), share('b', 0)])
  expect(withShare(shares, 'b', 12.345)).toEqual([share('a', 60), share('b', 12.35)])
})

it('tells shares that are alike, in whatever order they stand', () => {
  const shares = [share('a', 60), share('b', 10)]
  expect(isSameShare(shares, shares.toReversed())).toBe(true)
  expect(isSameShare(shares, [share('a', 60)])).toBe(false)
  expect(isSameShare(shares, [share('a', 60), share('b', 11)])).toBe(false)
})

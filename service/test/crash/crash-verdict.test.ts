import { describe, expect, it } from 'vitest'
import type { CrashResult } from './crash-round.ts'
import { crashFaults, crashLine, totalLine } from './crash-verdict.ts'

const GOOD: CrashResult = {
  lost: [],
  doubledDials: [],
  stuck: [],
  leases: [],
  debts: [],
  failures: [],
  isReached: true,
  startMs: 1_234,
  told: 7,
}

describe('the verdict on a crash', () => {
  it('is a line with the sums, and no fault, when nothing is wrong', () => {
    expect(crashLine('a', [GOOD, GOOD])).toBe(
      'a  kills 2 of 2, start max 1.2 s, told 14, lost 0, doubled dials 0, stuck rows 0',
    )
    expect(crashFaults([GOOD, GOOD])).toEqual([])
  })

  it.each([
    [{ isReached: false }, 'the moment did not come'],
    [{ startMs: 10_001 }, 'a start took 10001 ms'],
    [{ failures: ['no tenant'] }, 'could not be done: no tenant'],
    [{ lost: ['turn 1'] }, 'lost: turn 1'],
    [{ doubledDials: ['+1'] }, 'dialled twice: +1'],
    [{ stuck: ['session 1'] }, 'stuck: session 1'],
    [{ leases: ['a.b'] }, 'a lease that is too long: a.b'],
  ])('names what %j breaks', (change, fault) => {
    expect(crashFaults([GOOD, { ...GOOD, ...change }])).toEqual([fault])
  })

  it('adds up', () => {
    const bad = { ...GOOD, lost: ['a', 'b'], stuck: ['c'] }
    expect(totalLine([bad, GOOD, bad])).toBe('lost 4, doubled dials 0, stuck rows 2')
  })
})

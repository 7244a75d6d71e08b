import { describe, expect, it } from 'vitest'
import type { CrashResult } from './crash-round.ts'
import { crashFaults, crashLine, crashTable } from './crash-verdict.ts'

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
  repeats: 1,
}
const UNDONE = { ...GOOD, isReached: false, failures: ['no tenant'] }

describe('the verdict on a crash', () => {
  it('is a line with the sums, and no fault, when nothing is wrong', () => {
    expect(crashLine([GOOD, GOOD])).toBe(
      'reached 2 of 2 kills, start max 1.2 s, told 14, webhooks again 2, lost 0, doubled dials 0, stuck rows 0',
    )
    expect(crashFaults([GOOD, GOOD])).toEqual([])
  })

  it('counts no kill that could not be done', () => {
    expect(crashLine([GOOD, UNDONE])).toMatch(/^reached 1 of 2 kills, /)
  })

  it('counts a kill that was tried again once, and all that it found', () => {
    const missed = { ...GOOD, isReached: false, isTriedAgain: true }
    expect(crashLine([missed, GOOD])).toMatch(/^reached 1 of 1 kills \(1 tried again\), /)
    expect(crashFaults([missed, GOOD])).toEqual([])
    expect(crashFaults([{ ...missed, lost: ['turn 1'] }, GOOD])).toEqual(['lost: turn 1'])
    expect(crashFaults([missed, { ...missed, isTriedAgain: false }, GOOD])).toEqual([
      'the moment did not come in 1 of 2',
    ])
  })

  it.each([
    [{ isReached: false }, 'the moment did not come in 1 of 2'],
    [{ startMs: 10_001 }, 'a start took 10001 ms'],
    [{ isReached: false, failures: ['no tenant'] }, 'could not be done: no tenant'],
    [{ lost: ['turn 1'] }, 'lost: turn 1'],
    [{ doubledDials: ['+1'] }, 'dialled twice: +1'],
    [{ stuck: ['session 1'] }, 'stuck: session 1'],
    [{ leases: ['a.b'] }, 'a lease that is too long: a.b'],
  ])('names what %j breaks', (change, fault) => {
    expect(crashFaults([GOOD, { ...GOOD, ...change }])).toEqual([fault])
  })

  it('says that a moment never came, for whatever reason', () => {
    expect(crashFaults([UNDONE])).toEqual(['the moment never came', 'could not be done: no tenant'])
    expect(crashFaults([])).toEqual(['the moment never came'])
  })

  it('adds up, and is a table with a line for each moment', () => {
    const bad = { ...GOOD, lost: ['a', 'b'], stuck: ['c'] }
    expect(crashLine([bad, GOOD, bad])).toMatch(/, lost 4, doubled dials 0, stuck rows 2$/)
    const table = crashTable([
      ['a', [GOOD]],
      ['longer', Array(10).fill(bad)],
    ])
    expect(table).toEqual([
      'a       reached 1 of 1 kills    start max 1.2 s  told 7   webhooks again 1   lost 0   doubled dials 0  stuck rows 0',
      'longer  reached 10 of 10 kills  start max 1.2 s  told 70  webhooks again 10  lost 20  doubled dials 0  stuck rows 10',
    ])
  })
})

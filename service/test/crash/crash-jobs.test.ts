import { describe, expect, it } from 'vitest'
import { AT_RANDOM, jobsOf } from './crash-jobs.ts'
import { parseCrashOptions } from './crash-options.ts'
import { POINTS } from './points.ts'

describe('the jobs of the stages', () => {
  it('are every moment once, and the kills by chance in as many parts as there are stages', () => {
    const jobs = jobsOf(POINTS, parseCrashOptions(['--random', '10', '--stages', '4', '--rounds', '3']))
    const chance = jobs.filter(({ name }) => name === AT_RANDOM)
    expect(chance.map(({ rounds }) => rounds).sort()).toEqual([2, 2, 3, 3])
    const named = jobs.filter(({ point }) => point !== null)
    expect(named.map(({ name }) => name).sort()).toEqual(POINTS.map(({ name }) => name).sort())
    expect(named.every(({ rounds }) => rounds === 3)).toBe(true)
  })

  it('have their share of the rounds where nobody says how many', () => {
    const jobs = jobsOf(POINTS, parseCrashOptions([]))
    const roundsOf = (wanted: string) => jobs.find(({ name }) => name === wanted)?.rounds
    expect([roundsOf('before-dial'), roundsOf('after-end-commit'), roundsOf('heartbeat')]).toEqual([20, 10, 2])
  })

  it('have no part by chance where there are fewer of these than stages', () => {
    const jobs = jobsOf([], parseCrashOptions(['--random', '2', '--stages', '4']))
    expect(jobs.map(({ rounds }) => rounds)).toEqual([1, 1])
  })
})

import { describe, expect, it } from 'vitest'
import { parseCrashOptions } from './crash-options.ts'
import { POINTS } from './points.ts'

describe('the options of the crash', () => {
  it('are all moments, each with its share of rounds, and 100 times by chance', () => {
    const options = parseCrashOptions([])
    expect(options).toMatchObject({ rounds: null, random: 100, seed: 1, reachSeconds: 120, settleSeconds: 150 })
    expect(options.points).toEqual(POINTS.map(({ name }) => name))
  })

  it('are more than one moment where these are named', () => {
    const args = ['--point', 'heartbeat', '--point', 'before-dial']
    expect(parseCrashOptions(args).points).toEqual(['before-dial', 'heartbeat'])
  })

  it('leave out chance when one moment is named', () => {
    const args = ['--point', 'before-dial', '--rounds', '2']
    expect(parseCrashOptions(args)).toMatchObject({ points: ['before-dial'], rounds: 2, random: 0 })
    expect(parseCrashOptions([...args, '--random', '3']).random).toBe(3)
  })

  it('name what is spoilt, and how many services there are', () => {
    const options = parseCrashOptions(['--sabotage', 'look-left', '--stages', '2'])
    expect(options).toMatchObject({ sabotage: { name: 'look-left', kind: 'stuck' }, stages: 2 })
    expect(parseCrashOptions([])).toMatchObject({ sabotage: null, stages: 4 })
  })

  it.each([
    [['--sabotage', 'never']],
    [['--stages', '0']],
    [['--point', 'never']],
    [['--rounds', '0']],
    [['--random', 'x']],
  ])('refuse %j', (args) => {
    expect(() => parseCrashOptions(args)).toThrow(args[0])
  })
})

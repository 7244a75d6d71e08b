import { parseArgs } from 'node:util'
import { whole } from '../kill/options.ts'
import { POINTS } from './points.ts'
import { SABOTAGES, type Sabotage } from './sabotage.ts'

/** What the command line asks for. */
export type CrashOptions = {
  /** Names of points. */
  points: readonly string[]
  /** Kills at each point; null: `ROUNDS`, or its share of them. */
  rounds: number | null
  /** Kills at a time by chance, with everything going on. */
  random: number
  seed: number
  reachSeconds: number
  /** How often a kill is tried again whose moment did not come. */
  again: number
  settleSeconds: number
  /** Services with all that is around them, side by side. */
  stages: number
  /** What each round must find. */
  sabotage: Sabotage | null
  /** Before all other processes of the machine. */
  isRealtime: boolean
  help: boolean
}

/** Kills at a point that has them all. */
export const ROUNDS = 20

/** What `--help` prints. */
export const CRASH_USAGE = `npm run test:crash -- [options]

Kills the service (SIGKILL) at named moments: as a statement, a commit, a request or an answer passes. Starts it again, and
tells whether something is gone that a client had been told, whether a call was dialled twice, and what is stuck.

  --point NAME     only this moment; may be given more than once
  --rounds N       kills at each; without it 20, 10 or 2
  --random 100     kills at a time by chance; 0 for none
  --seed 1         of what is by chance
  --reach 120      seconds within which a moment has to come
  --again 2        times that a kill is tried once more whose moment did not come
  --settle 150     seconds that the service has afterwards to put things in order
  --stages 4       services side by side
  --sabotage NAME  spoils each round: it has to be found. One of ${SABOTAGES.map(({ name }) => name).join(', ')}
  --realtime       real-time priority, for a machine that others use (as root)

Moments: ${POINTS.map(({ name }) => name).join(', ')}

Exit code: 0, or 1 when something is lost, doubled, stuck or slow, a kill was not done at its moment, or it could not run.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseCrashOptions(args: string[]): CrashOptions {
  const { values } = parseArgs({
    args,
    options: {
      point: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      reach: { type: 'string', default: '120' },
      again: { type: 'string', default: '2' },
      settle: { type: 'string', default: '150' },
      stages: { type: 'string', default: '4' },
      sabotage: { type: 'string' },
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { point: asked } = values
  const names = POINTS.map(({ name }) => name)
  const unknown = asked.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`--point ${unknown}: not one of ${names.join(', ')}`)
  const sabotage = SABOTAGES.find(({ name }) => name === values.sabotage) ?? null
  if (values.sabotage !== undefined && !sabotage) throw new Error(`--sabotage ${values.sabotage}: there is no such one`)
  const random = values.random ?? (asked.length === 0 ? '100' : '0')
  return {
    points: names.filter((name) => asked.length === 0 || asked.includes(name)),
    rounds: values.rounds === undefined ? null : whole('--rounds', values.rounds),
    random: random === '0' ? 0 : whole('--random', random),
    seed: whole('--seed', values.seed),
    reachSeconds: whole('--reach', values.reach),
    again: values.again === '0' ? 0 : whole('--again', values.again),
    settleSeconds: whole('--settle', values.settle),
    stages: whole('--stages', values.stages),
    sabotage,
    isRealtime: values.realtime,
    help: values.help,
  }
}

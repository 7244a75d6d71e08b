import { parseArgs } from 'node:util'
import { whole } from '../kill/options.ts'
import { MISSING_POINTS, POINTS } from './points.ts'
import { SABOTAGES, type Sabotage } from './sabotage.ts'

/** What the command line asks for. */
export type CrashOptions = {
  /** Names of points. */
  points: readonly string[]
  /** Kills at each point. */
  rounds: number
  /** Kills at a time by chance, with everything going on. */
  random: number
  seed: number
  settleSeconds: number
  /** Services with all that is around them, side by side. */
  stages: number
  /** What each round must find. */
  sabotage: Sabotage | null
  /** Before all other processes of the machine. */
  isRealtime: boolean
  help: boolean
}

/** What `--help` prints. */
export const CRASH_USAGE = `npm run test:crash -- [options]

Kills the service (SIGKILL) at named moments: as a statement, a commit, a request or an answer passes. Starts it again, and
tells whether something is gone that a client had been told, whether a call was dialled twice, and what is stuck.

  --point NAME     only this moment
  --rounds 20      kills at each
  --random 100     kills at a time by chance; 0 for none
  --seed 1         of what is by chance
  --settle 150     seconds that the service has afterwards to put things in order
  --stages 4       services side by side
  --sabotage NAME  spoils each round: it has to be found. One of ${SABOTAGES.map(({ name }) => name).join(', ')}
  --realtime       real-time priority, for a machine that others use (as root)

Moments: ${POINTS.map(({ name }) => name).join(', ')}

Exit code: 0, or 1 when something is lost, doubled, stuck or slow, a moment was not reached, or it could not run.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseCrashOptions(args: string[]): CrashOptions {
  const { values } = parseArgs({
    args,
    options: {
      point: { type: 'string' },
      rounds: { type: 'string', default: '20' },
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      settle: { type: 'string', default: '150' },
      stages: { type: 'string', default: '4' },
      sabotage: { type: 'string' },
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { point } = values
  const names = [...POINTS, ...MISSING_POINTS].map(({ name }) => name)
  if (point !== undefined && !names.includes(point)) throw new Error(`--point ${point}: not one of ${names.join(', ')}`)
  const sabotage = SABOTAGES.find(({ name }) => name === values.sabotage) ?? null
  if (values.sabotage !== undefined && !sabotage) throw new Error(`--sabotage ${values.sabotage}: there is no such one`)
  const random = values.random ?? (point === undefined ? '100' : '0')
  return {
    points: names.filter((name) => point === undefined || point === name),
    rounds: whole('--rounds', values.rounds),
    random: random === '0' ? 0 : whole('--random', random),
    seed: whole('--seed', values.seed),
    settleSeconds: whole('--settle', values.settle),
    stages: whole('--stages', values.stages),
    sabotage,
    isRealtime: values.realtime,
    help: values.help,
  }
}

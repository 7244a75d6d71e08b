import { parseArgs } from 'node:util'
import { whole } from '../kill/options.ts'
import { MISSING_POINTS, POINTS } from './points.ts'

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
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { point } = values
  const names = [...POINTS, ...MISSING_POINTS].map(({ name }) => name)
  if (point !== undefined && !names.includes(point)) throw new Error(`--point ${point}: not one of ${names.join(', ')}`)
  const random = values.random ?? (point === undefined ? '100' : '0')
  return {
    points: names.filter((name) => point === undefined || point === name),
    rounds: whole('--rounds', values.rounds),
    random: random === '0' ? 0 : whole('--random', random),
    seed: whole('--seed', values.seed),
    settleSeconds: whole('--settle', values.settle),
    isRealtime: values.realtime,
    help: values.help,
  }
}

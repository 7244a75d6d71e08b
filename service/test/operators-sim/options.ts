import { parseArgs } from 'node:util'
import { whole } from '../kill/options.ts'

/** What the command line asks for. */
export type SimOptions = {
  tasks: number
  days: number
  /** Of all that is by chance. */
  seed: number
  /** Before all other processes of the machine. */
  isRealtime: boolean
  help: boolean
}

/** What `--help` prints. */
export const SIM_USAGE = `npm run test:operators-sim -- [options]

Three tenants' operators at work for a week in which the clocks change, on two nodes and one PostgreSQL server, in virtual
time: tasks come in, people and sweeps work on them, webhooks, tickets and the carrier fail at random, and nodes are killed
(SIGKILL). Tells whether a task was lost or moved as it may not, whether somebody was alerted twice or not at all, and whether
every event was delivered, or is listed as failed.

  --tasks 500      over all tenants
  --days 7         of virtual time; two more pass in which nothing new comes in
  --seed 1         of what is by chance
  --realtime       real-time priority, for a machine that others use (as root)

Exit code: 0, or 1 when something is wrong or it could not run. A failing run prints its seed.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseSimOptions(args: string[]): SimOptions {
  const { values } = parseArgs({
    args,
    options: {
      tasks: { type: 'string', default: '500' },
      days: { type: 'string', default: '7' },
      seed: { type: 'string', default: '1' },
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    tasks: whole('--tasks', values.tasks),
    days: whole('--days', values.days),
    seed: whole('--seed', values.seed),
    isRealtime: values.realtime,
    help: values.help,
  }
}

import { parseArgs } from 'node:util'
import { whole } from '../kill/options.ts'

/** What the command line asks for. */
export type ClaimOptions = { tasks: number; tenants: number; rounds: number; isRealtime: boolean; help: boolean }

/** What `--help` prints. */
export const CLAIM_USAGE = `npm run bench:sweeps -- [options]

Fills a PostgreSQL server with callback tasks, most of them done, and times how long each sweep takes to find the next task of a
tenant and to make it its own, and how long an operator waits for the next one of a queue.

  --tasks 1000000  over all tenants; the first tenant has a fifth of them
  --tenants 100
  --rounds 200     claims of each kind
  --realtime       real-time priority, for a machine that others use (as root)

Exit code: 0, or 1 when one claim in a hundred takes over 50 ms, or it could not run.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseClaimOptions(args: string[]): ClaimOptions {
  const { values } = parseArgs({
    args,
    options: {
      tasks: { type: 'string', default: '1000000' },
      tenants: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '200' },
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    tasks: whole('--tasks', values.tasks),
    tenants: whole('--tenants', values.tenants),
    rounds: whole('--rounds', values.rounds),
    isRealtime: values.realtime,
    help: values.help,
  }
}

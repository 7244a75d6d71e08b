import { parseArgs } from 'node:util'

/** How many calls are up at a time, for how long, and where the service stores. */
export type SoakOptions = { calls: number; minutes: number; isEmbedded: boolean; help: boolean }

/** What `--help` prints. */
export const SOAK_USAGE = `npm run soak -- [options]

  --calls 50     calls that are up at a time; one ends and one starts each second
  --minutes 10   how long
  --embedded     on the embedded database; default: on a PostgreSQL server

Exit code: 0, or 1 when the service held on to more than at the beginning, or a call went wrong.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseSoakOptions(args: string[]): SoakOptions {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: 'string', default: '50' },
      minutes: { type: 'string', default: '10' },
      embedded: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const calls = Number(values.calls)
  const minutes = Number(values.minutes)
  if (!Number.isInteger(calls) || calls < 1) throw new Error(`--calls ${values.calls}: not a whole number from 1`)
  if (!(minutes > 0 && Number.isFinite(minutes))) throw new Error(`--minutes ${values.minutes}: must be more than 0`)
  return { calls, minutes, isEmbedded: values.embedded, help: values.help }
}

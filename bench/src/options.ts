import { parseArgs } from 'node:util'

/** What the command line asks for. Durations in seconds, as they are typed. */
export type Options = {
  relayOnly: boolean
  calls: number[]
  seconds: number
  repeats: number
  warmupSeconds: number
  rampPerSecond: number
  churnPerSecond: number
  threads: boolean
  realtime: boolean
  writeDocs: boolean
  machine: string | undefined
  jsonFile: string | undefined
  help: boolean
}

/** What `--help` prints. */
export const USAGE = `npm run bench -- [options]

  --relay-only        only the two relays, the yardstick
  --calls 100,200     numbers of calls, one after the other (100,200,300,400)
  --seconds 18        length of the window that is measured
  --repeats 3         rounds at each number of calls; the table shows medians
  --warmup 4          seconds between the last call's start and the window
  --ramp 200          calls started per second
  --churn 0           calls ended and started per second while it runs
  --threads           CPU by thread, too
  --realtime          real-time priority, for a machine that others use (as root)
  --json <file>       everything that was measured, as JSON
  --write-docs        put the table into docs/performance.md
  --machine <words>   what to call this machine there

Exit code: 0, or 2 when the run is void, or 1 when it could not run.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      'relay-only': { type: 'boolean', default: false },
      calls: { type: 'string', default: '100,200,300,400' },
      seconds: { type: 'string', default: '18' },
      repeats: { type: 'string', default: '3' },
      warmup: { type: 'string', default: '4' },
      ramp: { type: 'string', default: '200' },
      churn: { type: 'string', default: '0' },
      threads: { type: 'boolean', default: false },
      realtime: { type: 'boolean', default: false },
      json: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      machine: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    relayOnly: values['relay-only'],
    calls: values.calls.split(',').map((text) => whole('--calls', text)),
    seconds: positive('--seconds', values.seconds),
    repeats: whole('--repeats', values.repeats),
    warmupSeconds: notNegative('--warmup', values.warmup),
    rampPerSecond: positive('--ramp', values.ramp),
    churnPerSecond: notNegative('--churn', values.churn),
    threads: values.threads,
    realtime: values.realtime,
    writeDocs: values['write-docs'],
    machine: values.machine,
    jsonFile: values.json,
    help: values.help,
  }
}

function notNegative(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new Error(`${name} ${text}: not a number from 0`)
  return value
}

function positive(name: string, text: string): number {
  const value = notNegative(name, text)
  if (value === 0) throw new Error(`${name} ${text}: must be more than 0`)
  return value
}

function whole(name: string, text: string): number {
  const value = positive(name, text)
  if (!Number.isInteger(value)) throw new Error(`${name} ${text}: not a whole number`)
  return value
}

import { parseArgs } from 'node:util'

/** What the command line asks for. Durations in seconds, as they are typed. */
export type Options = {
  check: boolean
  /** What callers wait for, in place of what calls cost. */
  latency: boolean
  relayOnly: boolean
  /** Names of systems; undefined: all of them. */
  systems: string[] | undefined
  calls: number[]
  seconds: number
  repeats: number
  warmupSeconds: number
  rampPerSecond: number
  churnPerSecond: number
  tls: boolean
  threads: boolean
  realtime: boolean
  writeDocs: boolean
  machine: string | undefined
  jsonFile: string | undefined
  profileFolder: string | undefined
  help: boolean
}

/** What `--help` prints. */
export const USAGE = `npm run bench -- [options]

  --check             what the service has to keep to, each with what was measured: about 20 minutes
  --latency           what callers wait for, with a model that takes 300 ms: about 10 minutes, by itself as
                      npm run bench:latency; --check holds it against its goals, --calls, --seconds, --repeats
                      and --quick are looked at
  --quick             a look: 100 calls, one round of 6 s
  --relay-only        only the two relays, the yardstick: about 11 minutes
  --systems a,b       only these: raw-net, raw-ws, parley, parley-embedded, parley-default
  --calls 100,200     numbers of calls, one after the other (100,200,300,400)
  --seconds 12        length of the window that is measured
  --repeats 3         rounds at each number of calls; the table shows medians
  --warmup 10         seconds between the last call's start and the window
  --ramp 100          calls started per second
  --churn 0           calls ended and started per second while it runs
  --tls               TLS between the system under test and its model
  --threads           CPU by thread, too
  --realtime          real-time priority, for a machine that others use (as root)
  --profile <folder>  CPU profiles of the systems under test, one a round
  --json <file>       everything that was measured, as JSON
  --write-docs        put the tables of --check or --relay-only into docs/performance.md
  --machine <words>   what to call this machine there

With --check only --realtime, --threads, --json, --write-docs and --machine are looked at.

Exit code: 0, or 2 when the run is void, or 1 when it could not run or a goal of --check was missed.`

const ASKED = { calls: '100,200,300,400', seconds: '12', repeats: '3' }
/** Long enough for a hundred first words. */
const LATENCY = { calls: '100', seconds: '40', repeats: '3' }
const QUICK = { calls: '100', seconds: '6', repeats: '1' }

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      check: { type: 'boolean', default: false },
      latency: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      'relay-only': { type: 'boolean', default: false },
      systems: { type: 'string' },
      calls: { type: 'string' },
      seconds: { type: 'string' },
      repeats: { type: 'string' },
      warmup: { type: 'string', default: '10' },
      ramp: { type: 'string', default: '100' },
      churn: { type: 'string', default: '0' },
      tls: { type: 'boolean', default: false },
      threads: { type: 'boolean', default: false },
      realtime: { type: 'boolean', default: false },
      profile: { type: 'string' },
      json: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      machine: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values['write-docs'] && !values.check && !values['relay-only'])
    throw new Error('--write-docs: only with --check or --relay-only')
  const usual = values.quick ? QUICK : values.latency ? LATENCY : ASKED
  return {
    check: values.check,
    latency: values.latency,
    relayOnly: values['relay-only'],
    systems: values.systems?.split(','),
    calls: (values.calls ?? usual.calls).split(',').map((text) => whole('--calls', text)),
    seconds: positive('--seconds', values.seconds ?? usual.seconds),
    repeats: whole('--repeats', values.repeats ?? usual.repeats),
    warmupSeconds: notNegative('--warmup', values.warmup),
    rampPerSecond: positive('--ramp', values.ramp),
    churnPerSecond: notNegative('--churn', values.churn),
    tls: values.tls,
    threads: values.threads,
    realtime: values.realtime,
    writeDocs: values['write-docs'],
    machine: values.machine,
    jsonFile: values.json,
    profileFolder: values.profile,
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

import { parseArgs } from 'node:util'

/** What the carrier does with a call whose stream was lost. */
export const AFTER_LOSS = ['next-verb', 'silence'] as const
export type AfterLoss = (typeof AFTER_LOSS)[number]

/** What the command line asks for. */
export type KillOptions = {
  calls: number
  /** How often each of `afterLoss` is done. */
  runs: number
  /** What is by chance (when the kill comes) is the same for the same seed. */
  seed: number
  afterLoss: readonly AfterLoss[]
  /** Before all other processes of the machine. */
  isRealtime: boolean
  help: boolean
}

/** What `--help` prints. */
export const KILL_USAGE = `npm run test:kill -- [options]

Two nodes on one PostgreSQL server hold simulated calls; one of them is killed (SIGKILL). Tells how soon its calls go on
at the other node, whether a turn that was stored before is lost or doubled, and whether two nodes ever had one call.

  --calls 100         calls, spread over both nodes
  --runs 1            how often each behaviour of the carrier is tried
  --seed 1            of what is by chance
  --after-loss NAME   only this behaviour of the carrier: ${AFTER_LOSS.join(' or ')}
  --realtime          real-time priority, for a machine that others use (as root)

Exit code: 0, or 1 when a bound is broken or it could not run.`

/** Reads the command line. @throws Error with a sentence for the user when it makes no sense. */
export function parseKillOptions(args: string[]): KillOptions {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: 'string', default: '100' },
      runs: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      'after-loss': { type: 'string' },
      realtime: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const name = values['after-loss']
  const afterLoss = AFTER_LOSS.filter((each) => name === undefined || each === name)
  if (afterLoss.length === 0) throw new Error(`--after-loss ${name}: not one of ${AFTER_LOSS.join(', ')}`)
  return {
    calls: whole('--calls', values.calls),
    runs: whole('--runs', values.runs),
    seed: whole('--seed', values.seed),
    afterLoss,
    isRealtime: values.realtime,
    help: values.help,
  }
}

/** A whole number from 1. @throws Error that names the option. */
export function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} ${text}: not a whole number from 1`)
  return value
}

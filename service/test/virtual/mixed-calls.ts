import { parseArgs } from 'node:util'
import { readCommand } from '../harness/command-line.ts'
import { mixedCallOf } from './mixed-call.ts'
import { faultsOfAll } from './mixed-check.ts'
import { runMixed } from './mixed-nodes.ts'
import type { MixedRun } from './mixed-run.ts'

const USAGE = `npm run test:mixed-calls -- [options]

Runs calls in which anything happens, in virtual time, and tells how many went bad, each with the seed that runs it again.
  --runs N     so many of them, each with the seed after the one before; default 1,000
  --seed S     the first one's; by chance if not given
  --trace      with all that happens in them`

type Options = { runs: number; seed: number; trace: boolean; help: boolean }

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** @throws Error with a sentence for the user when the command line makes no sense. */
function parse(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      ...{ runs: { type: 'string', default: '1000' }, seed: { type: 'string' } },
      ...{ trace: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    },
  })
  const { trace, help } = values
  const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : whole('seed', values.seed)
  return { runs: whole('runs', values.runs), seed, trace, help }
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} ${text}: not a whole number`)
  return Number(text)
}

function trace({ call, world }: MixedRun): void {
  print(JSON.stringify(call))
  for (const line of world.wire.trace) print(line)
  for (const { seq, itemId, role, startMs, endMs, text, unheard } of world.transcript) {
    print(`${seq} ${itemId} ${startMs}-${endMs} ${role}: ${text}${unheard === '' ? '' : ` | ${unheard}`}`)
  }
}

async function main({ runs, seed: first, trace: isTraced }: Options): Promise<number> {
  let bad = 0
  for (let seed = first; seed < first + runs; seed++) {
    const all = await runMixed(mixedCallOf(seed))
    const faults = faultsOfAll(all)
    if (isTraced) for (const run of all) trace(run)
    if (faults.length > 0) bad += 1
    for (const fault of faults) print(`bad: --seed ${seed} --runs 1: ${fault}`)
  }
  print(`runs ${runs} bad ${bad}, from --seed ${first}`)
  return bad === 0 ? 0 : 1
}

const asked = readCommand(USAGE, parse)
if (asked) process.exitCode = await main(asked)

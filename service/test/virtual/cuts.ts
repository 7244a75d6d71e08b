import { parseArgs } from 'node:util'
import { readCommand } from '../harness/command-line.ts'
import { CUTS, type Cut } from './cut.ts'
import { faultsOf } from './cut-check.ts'
import { goldenEvents, runCut } from './cut-run.ts'

const USAGE = `npm run test:cuts -- [options]

Cuts the golden call at each of its events, in virtual time, and tells how many runs went bad.
  --index K    only the event K, with its trace
  --cut NAME   only this one of ${CUTS.join(', ')}`

/** More would only scroll away the first. */
const MAX_SHOWN = 40

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The faults of one run, each as the line that runs it again. */
async function runOne(index: number, cut: Cut, isTraced: boolean): Promise<string[]> {
  const run = await runCut(index, cut)
  if (isTraced) {
    for (const line of run.world.wire.trace) print(line)
    for (const { seq, role, text } of run.world.transcript) print(`${seq} ${role}: ${text}`)
  }
  return faultsOf(run).map((fault) => `--index ${index} --cut ${cut}: ${fault}`)
}

type CutOptions = { cuts: readonly Cut[]; index: number | null; help: boolean }

/** @throws Error with a sentence for the user when the command line makes no sense. */
function parseCutOptions(args: string[]): CutOptions {
  const { values } = parseArgs({
    args,
    options: { index: { type: 'string' }, cut: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  const cuts = values.cut === undefined ? CUTS : CUTS.filter((cut) => cut === values.cut)
  if (cuts.length === 0) throw new Error(`--cut ${values.cut}: not one of ${CUTS.join(', ')}`)
  return { cuts, index: values.index === undefined ? null : Number(values.index), help: values.help }
}

/** Runs what was asked for; the exit code. */
async function main({ cuts, index }: CutOptions): Promise<number> {
  const events = await goldenEvents()
  if (index !== null && !(index >= 0 && index < events)) {
    print(`${USAGE}\nThe golden call has ${events} events.`)
    return 2
  }
  const indices = index === null ? Array.from({ length: events }, (_, each) => each) : [index]
  return report(await runAll(indices, cuts, index !== null), indices.length * cuts.length)
}

async function runAll(indices: readonly number[], cuts: readonly Cut[], isTraced: boolean): Promise<string[][]> {
  const bad: string[][] = []
  for (const index of indices) {
    for (const cut of cuts) {
      const faults = await runOne(index, cut, isTraced)
      if (faults.length > 0) bad.push(faults)
    }
  }
  return bad
}

function report(bad: readonly string[][], runs: number): number {
  for (const faults of bad.slice(0, MAX_SHOWN)) for (const fault of faults) print(`bad: ${fault}`)
  print(`runs ${runs} bad ${bad.length}`)
  return bad.length === 0 ? 0 : 1
}

const asked = readCommand(USAGE, parseCutOptions)
if (asked) process.exitCode = await main(asked)

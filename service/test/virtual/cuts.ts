import { parseArgs } from 'node:util'
import { CUTS, type Cut } from './cut.ts'
import { faultsOf } from './cut-check.ts'
import { goldenEvents, runCut } from './cut-run.ts'

const USAGE = `Cuts the golden call at each of its events, in virtual time, and tells how many runs went bad.
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

function chosenCuts(name: string | undefined): readonly Cut[] {
  return name === undefined ? CUTS : CUTS.filter((cut) => cut === name)
}

/** Runs what was asked for; the exit code. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { index: { type: 'string' }, cut: { type: 'string' } }, strict: false })
  const cuts = chosenCuts(values['cut']?.toString())
  const events = await goldenEvents()
  const index = values['index'] === undefined ? null : Number(values['index'])
  if (cuts.length === 0 || (index !== null && !(index >= 0 && index < events))) {
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

process.exitCode = await main()

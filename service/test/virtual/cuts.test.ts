import { describe, expect, it } from 'vitest'
import { CUTS } from './cut.ts'
import { faultsOf } from './cut-check.ts'
import { goldenEvents, runCut } from './cut-run.ts'

/** Of all cuts at all events, in the time that one run of the tests has. */
const RUNS = 300

describe('The golden call', () => {
  it('survives, or ends in order, wherever its wires are cut', async () => {
    const events = await goldenEvents()
    const bad: string[] = []
    for (let run = 0; run < RUNS; run++) {
      const index = Math.floor((run * events) / RUNS)
      const cut = CUTS[run % CUTS.length] ?? 'both'
      const faults = faultsOf(await runCut(index, cut))
      bad.push(...faults.map((fault) => `--index ${index} --cut ${cut}: ${fault}`))
    }
    expect(bad).toEqual([])
  }, 120_000)
})

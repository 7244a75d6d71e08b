import { expect, it } from 'vitest'
import { mixedCallOf } from './mixed-call.ts'
import { faultsOfMixed } from './mixed-check.ts'
import { MixedRun } from './mixed-run.ts'

const RUNS = process.env['PARLEY_TEST_FULL'] ? 1_000 : 40

it('A call in which people, transfers, other agents, a second voice, losses and the end of a node come together keeps to what it promises', async () => {
  const first = Date.now() % 1_000_000_000
  const bad: string[] = []
  for (let seed = first; seed < first + RUNS; seed++) {
    const run = new MixedRun(mixedCallOf(seed))
    await run.run()
    bad.push(
      ...faultsOfMixed(run).map((fault) => `npm run test:mixed-calls -- --seed ${seed} --runs 1 --trace: ${fault}`),
    )
  }
  expect(bad).toEqual([])
}, 900_000)

import { expect, it } from 'vitest'
import { mixedCallOf } from './mixed-call.ts'
import { faultsOfMixed } from './mixed-check.ts'
import { MixedRun } from './mixed-run.ts'

const IS_FULL = Boolean(process.env['PARLEY_TEST_FULL'])
const RUNS = IS_FULL ? 1_000 : 40
/** Others each time where there are many, so that more and more of them have been run; else the same, so that what fails is what was changed. */
const FIRST_SEED = IS_FULL ? Date.now() % 1_000_000_000 : 1

it('A call in which people, transfers, other agents, a second voice, losses and the end of a node come together keeps to what it promises', async () => {
  const bad: string[] = []
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const run = new MixedRun(mixedCallOf(seed))
    await run.run()
    bad.push(
      ...faultsOfMixed(run).map((fault) => `npm run test:mixed-calls -- --seed ${seed} --runs 1 --trace: ${fault}`),
    )
  }
  expect(bad).toEqual([])
}, 900_000)

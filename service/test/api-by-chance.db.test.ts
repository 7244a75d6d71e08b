import { expect, it } from 'vitest'
import { ChanceRun } from './chance/run.ts'
import { World } from './chance/world.ts'
import { useDatabase } from './harness/database.ts'

const IS_FULL = Boolean(process.env['PARLEY_TEST_FULL'])
const { PARLEY_CHANCE_SEED: seed, PARLEY_CHANCE_STEPS: steps } = process.env
/** Others each time where there are many, so that more and more of them have been run; else the same, so that what fails is what was changed. */
const FIRST_SEED = Number(seed ?? (IS_FULL ? Date.now() % 1_000_000_000 : 3))
const SEEDS = Array.from({ length: IS_FULL && seed === undefined ? 5 : 1 }, (_, index) => FIRST_SEED + index)
const STEPS = Number(steps ?? (IS_FULL ? 300 : 40))

const test = useDatabase()

it.each(SEEDS)(
  'Whatever is asked of the API, by whomever and two at a time, its answers, lists, events and audit log are as a model has them, with PARLEY_CHANCE_SEED=%d',
  async (first) => {
    const world = await World.start(test)
    try {
      const run = await ChanceRun.start(world, first)
      const faults = await run.run(STEPS)
      // What led there, for whoever looks for the cause.
      if (faults.length > 0) process.stdout.write(`${run.trace.slice(-60).join('\n')}\n`)
      expect(faults.slice(0, 20)).toEqual([])
    } finally {
      await world.close()
    }
  },
  900_000,
)

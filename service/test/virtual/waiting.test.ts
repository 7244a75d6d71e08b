import { describe, expect, it } from 'vitest'
import { GOLDEN_CALL, GOLDEN_SCRIPT } from './golden-call.ts'
import { World, type WorldOptions } from './world.ts'

const FALLBACK = { ...GOLDEN_CALL, plan: { ...GOLDEN_CALL.plan, fallback: { price: null } } }

/** The longest time, from an instant on, in which nothing left for the caller to hear. */
function longestSilenceMs({ carrier }: World, fromMs: number): number {
  let untilMs = fromMs
  let longestMs = 0
  for (const one of carrier.sent) {
    if (one.type === 'clear') untilMs = Math.max(fromMs, one.atMs)
    if (one.type !== 'media' && one.type !== 'sound') continue
    longestMs = Math.max(longestMs, one.atMs - untilMs)
    untilMs = Math.max(untilMs, one.atMs) + one.ms
  }
  return longestMs
}

/** A call whose caller asks and then waits, while of each answer no more comes than `ms`; when they had asked. */
async function broken(options: WorldOptions, ms: number): Promise<{ world: World; fromMs: number }> {
  const world = new World({ ...options, script: GOLDEN_SCRIPT.slice(0, 1) })
  world.begin()
  await world.until(() => world.model.answers.length > 0)
  world.times.brokenAfterMs = ms
  await world.until(() => world.transcript.some(({ role }) => role === 'caller'))
  const fromMs = world.clock.monotonicMs()
  await world.run(120_000)
  return { world, fromMs }
}

describe('A caller whose model answers nothing, or breaks off each answer,', () => {
  it.each([
    ['nothing', 'alone', GOLDEN_CALL, 0],
    ['nothing', 'as the other one', FALLBACK, 0],
    ['a little', 'alone', GOLDEN_CALL, 200],
    ['a little', 'as the other one', FALLBACK, 200],
  ])(
    'of which %s comes, %s, never waits for longer than 2.5 s without a sound, nor for more than 25 s in all',
    async (_what, _who, options, ms) => {
      const { world, fromMs } = await broken(options, ms)
      expect(world.ends).toEqual(['model_lost'])
      expect((world.endedAtMs ?? 0) - fromMs).toBeLessThanOrEqual(25_000)
      expect(longestSilenceMs(world, fromMs)).toBeLessThanOrEqual(2_700)
    },
  )
})

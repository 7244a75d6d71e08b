import { describe, expect, it } from 'vitest'
import { World, type WorldOptions } from './world.ts'

/** A caller who asks, and then does `then` in the middle of the answer. */
async function called(frameMs: number, then: NonNullable<WorldOptions['script']>[number]): Promise<World> {
  const asks = { cue: { afterSilenceMs: 800 }, say: 'What are your opening hours?', forMs: 1_500 }
  const world = new World({ frameMs, script: [asks, then, { cue: { afterSilenceMs: 4_000 }, hangUp: true }] })
  world.begin()
  await world.run(60_000)
  expect(world.errors).toEqual([])
  return world
}

const clears = (world: World) => world.carrier.sent.filter(({ type }) => type === 'clear').length

describe('A caller whose carrier sends frames of another length than 20 ms', () => {
  const frames = [10, 20, 40, 60, 100, 200, 400]

  it.each(frames)('interrupts the agent, and is answered, with frames of %i ms', async (frameMs) => {
    const say = 'Do you have a table for two tonight?'
    const world = await called(frameMs, { cue: { intoSpeechMs: 1_500 }, say, forMs: 800 })
    expect(clears(world)).toBe(1)
    const turns = world.transcript.map(({ role, text, interrupted }) => ({ role, text, interrupted }))
    expect(turns.filter(({ role }) => role === 'caller').map(({ text }) => text)).toContain(say)
    expect(turns.filter(({ interrupted }) => interrupted)).toHaveLength(1)
    expect(turns.at(-1)?.role).toBe('agent')
  })

  it.each(frames)('does not stop the agent with a cough, with frames of %i ms', async (frameMs) => {
    const world = await called(frameMs, { cue: { intoSpeechMs: 1_500 }, cough: 120 })
    expect(clears(world)).toBe(0)
  })
})

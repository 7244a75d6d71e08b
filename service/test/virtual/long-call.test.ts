import { describe, expect, it } from 'vitest'
import type { Brain } from './brain.ts'
import type { Act } from './caller.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { World } from './world.ts'

const MINUTE_MS = 60_000

/** Knows what it was told, in whichever session. */
const listener: Brain = (lines, instructions) => {
  if (instructions) return { text: 'Hello.' }
  const isAsked = lines.at(-1)?.text.includes('What is my number') ?? false
  const knows = lines.some(({ text }) => text.includes('4711'))
  if (isAsked) return { text: knows ? 'It is 4711.' : 'You have not told me.' }
  return { text: 'I see. Do go on.' }
}

const say = (atMinute: number, minutes: number, text: string): Act => ({
  cue: { afterMs: atMinute * MINUTE_MS + minutes * MINUTE_MS },
  say: text,
  forMs: 1_500,
})

describe('A call of 65 minutes', () => {
  it('has its model session renewed once, without a pause, and knows at its end what it was told at its beginning', async () => {
    const script: Act[] = [
      say(0, 2, 'My number is 4711.'),
      // One turn each minute from the third to the sixty-third.
      ...Array.from({ length: 61 }, () => say(0, 1, 'And then there is this.')),
      say(0, 1, 'What is my number?'),
      { cue: { afterMs: MINUTE_MS }, hangUp: true },
    ]
    const world = new World({
      script,
      brain: listener,
      plan: {
        ...{ maxCallMs: 80 * MINUTE_MS, modelSessionMs: 50 * MINUTE_MS },
        idle: { afterMs: 90 * MINUTE_MS, prompts: [], goodbye: '' },
      },
    })
    world.begin()
    await world.until(() => world.session.state.model.isReady)
    const gapsMs: number[] = []
    let goneAtMs: number | null = null
    while (!world.isOver && world.clock.monotonicMs() < 75 * MINUTE_MS) {
      await world.clock.advance(100)
      const isGone = !world.session.state.model.isReady && !world.isOver
      if (isGone) goneAtMs ??= world.clock.monotonicMs()
      else if (goneAtMs !== null) gapsMs.push(world.clock.monotonicMs() - goneAtMs)
      if (!isGone) goneAtMs = null
    }
    expect(world.clock.monotonicMs()).toBeGreaterThan(65 * MINUTE_MS)
    expect([world.model.sessions.length, gapsMs.filter((ms) => ms > 500)]).toEqual([2, []])
    const { responsesMs } = world.session.state.latency
    expect(responsesMs).toHaveLength(63)
    expect(Math.max(...responsesMs) - Math.min(...responsesMs)).toBeLessThanOrEqual(500)
    expect(world.transcript.filter(({ role }) => role === 'agent').at(-1)?.text).toBe('It is 4711.')
    expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
    expect(world.ends).toEqual(['caller_hangup'])
  }, 120_000)
})

import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { World } from './world.ts'

const OPENING_MS = 1_200
const RENEWED_AT_MS = 4_000

/** A call whose model session is renewed while nobody speaks, or just before the caller does. */
async function asking(afterMs: number, meanwhile?: (world: World) => void): Promise<World> {
  const world = new World({
    script: [
      { cue: { afterMs }, say: 'What are your opening hours?', forMs: 1_500 },
      { cue: { afterMs: 14_000 }, hangUp: true },
    ],
    times: { connectMs: OPENING_MS },
    plan: { modelSessionMs: RENEWED_AT_MS, idle: { afterMs: 60_000, prompts: [], goodbye: '' } },
  })
  world.begin()
  expect(await world.until(() => world.model.sessions.length === 2)).toBe(true)
  meanwhile?.(world)
  await world.run(120_000)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
  expect(world.model.offences).toEqual([])
  expect(replay(world.log.read()).difference).toBeNull()
  return world
}

function answers({ transcript }: World): string[] {
  return transcript.filter(({ role }) => role === 'agent').map(({ text }) => text.slice(0, 11))
}

describe('A model session that is renewed', () => {
  it('loses no word of the caller, whenever the caller begins to speak', async () => {
    for (let afterMs = 4_800; afterMs <= 7_400; afterMs += 100) {
      const world = await asking(afterMs)
      expect([afterMs, ...answers(world)]).toEqual([afterMs, 'Welcome.', 'We are open'])
      expect(world.transcript.filter(({ role }) => role === 'caller')).toHaveLength(1)
      expect(world.ends).toEqual(['caller_hangup'])
    }
  })

  it('is heard alone, though the one that is to take over speaks too soon', async () => {
    const world = await asking(7_000, ({ model }) => model.sessions[1]?.answer(null))
    const early = world.model.answers.filter(({ itemId }) => itemId === '2·item_2')
    expect(early.map(({ answer }) => world.heardMs(answer))).toEqual([0])
    expect(world.ends).toEqual(['caller_hangup'])
  })

  it('goes on being talked to when the other one cannot be had', async () => {
    const world = await asking(5_500, ({ model }) => model.sessions[1]?.drop('insufficient_quota', 'fatal'))
    expect(answers(world)).toEqual(['Welcome.', 'We are open'])
    expect(world.apologies).toBe(0)
    expect(world.session.state.model.epoch).toBe(1)
  })

  it('may be lost, or the one that is to take over, at any moment of it', async () => {
    for (const lost of [0, 1]) {
      for (let atMs = 0; atMs <= 1_500; atMs += 100) {
        const world = await asking(7_000, ({ clock, model }) => {
          clock.after(atMs, () => model.sessions[lost]?.drop('1006'))
        })
        expect([lost, atMs, ...answers(world)]).toEqual([lost, atMs, 'Welcome.', 'We are open'])
        expect(world.ends).toEqual(['caller_hangup'])
      }
    }
  })
})

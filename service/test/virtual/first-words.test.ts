import { describe, expect, it } from 'vitest'
import { INTERRUPTION } from '../../src/voice/session/call.fixture.ts'
import { restaurant } from './brain.ts'
import type { Act } from './caller.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { World, type WorldOptions } from './world.ts'

const LIMIT_MS = 120_000
const HOURS: Act = { cue: { afterMs: 300 }, say: 'What are your opening hours?', forMs: 1_500 }
const HANG_UP: Act = { cue: { afterMs: 15_000 }, hangUp: true }

/** The call to its end; it leaves nothing behind and knows what was heard. */
async function called(options: WorldOptions, meanwhile?: (world: World) => Promise<void>): Promise<World> {
  const world = new World(options)
  world.begin()
  await meanwhile?.(world)
  await world.run(LIMIT_MS)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
  expect(world.model.offences).toEqual([])
  return world
}

function said({ transcript }: World): string[] {
  return transcript.map(({ role, text }) => `${role}: ${text}`)
}

describe('What a caller says', () => {
  it('before the model is ready is heard by it, and answered after the greeting', async () => {
    for (const connectMs of [2_500, 4_500]) {
      for (const greetingGuardMs of [0, 1_000]) {
        const world = await called({
          script: [{ ...HOURS, cue: { afterMs: connectMs - 2_200 } }, HANG_UP],
          times: { connectMs },
          plan: { interruption: { ...INTERRUPTION, greetingGuardMs } },
        })
        expect(said(world)).toContain('caller: What are your opening hours?')
        expect(world.model.answers.map(({ text }) => text.slice(0, 11)).slice(0, 2)).toEqual([
          'Welcome.',
          'We are open',
        ])
      }
    }
  })

  it('while a model session is replaced is heard by the next one, and answered', async () => {
    const world = await called(
      {
        script: [
          { cue: { afterSilenceMs: 500 }, say: 'Do you have a table for two tonight?', forMs: 1_500 },
          { cue: { intoSpeechMs: 2_000 }, say: 'What are your opening hours?', forMs: 1_000 },
          HANG_UP,
        ],
        times: { connectMs: 1_800 },
      },
      async (world) => {
        await world.until(() => world.hearing()?.startsWith('Yes, there is') ?? false)
        await world.clock.advance(1_900)
        world.model.current?.drop('1006')
      },
    )
    expect(world.model.sessions.length).toBe(2)
    expect(said(world)).toContain('caller: What are your opening hours?')
    expect(said(world).some((line) => line.startsWith('agent: We are open from Tuesday'))).toBe(true)
  })

  it('in a word that is half over before the model tells of it stops the agent all the same', async () => {
    const world = await called({
      script: [
        { cue: { afterSilenceMs: 500 }, say: 'Do you have a table for two tonight?', forMs: 1_500 },
        { cue: { intoSpeechMs: 2_000 }, say: 'What are your opening hours?', forMs: 500 },
        HANG_UP,
      ],
      times: { onsetMs: 200, oneWayMs: 75 },
    })
    expect(world.carrier.sent.filter(({ type }) => type === 'clear')).toHaveLength(1)
    expect(said(world)).toContain('caller: What are your opening hours?')
  })

  it('in the greeting’s guard, to its last moment, neither stops the greeting nor is answered', async () => {
    for (const forMs of [300, 500, 700]) {
      const world = await called({
        script: [{ cue: { intoSpeechMs: 950 - forMs }, say: 'Hello?', forMs }, HANG_UP],
        plan: { greeting: 'Welcome to the Blue Door. What can I do for you?' },
      })
      expect(world.carrier.sent.filter(({ type }) => type === 'clear')).toEqual([])
      expect(said(world)).toEqual(expect.not.arrayContaining(['caller: Hello?']))
      expect(world.session.state.latency.interruptions).toBe(0)
    }
  })

  it('letter by letter, each in a turn of its own, is all of it known and answered', async () => {
    const letters: Act[] = ['J.', 'O.', 'Š', 'É.'].map((say) => ({ cue: { afterSilenceMs: 600 }, say, forMs: 240 }))
    const world = await called({
      script: [{ cue: { afterSilenceMs: 500 }, say: 'My name is spelled:', forMs: 1_200 }, ...letters, HANG_UP],
      brain: (lines, instructions) => (instructions ? restaurant(lines, instructions) : { text: 'Yes?' }),
    })
    expect(said(world).filter((line) => line.startsWith('caller'))).toEqual([
      ...['caller: My name is spelled:', 'caller: J.', 'caller: O.', 'caller: Š', 'caller: É.'],
    ])
    expect(world.model.answers.filter(({ text }) => text === 'Yes?')).toHaveLength(5)
  })
})

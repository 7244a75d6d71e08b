import { describe, expect, it } from 'vitest'
import { frames, quiet, tones, voice } from '../../src/voice/answer/line.fixture.ts'
import { replay } from '../../src/voice/event-log/replay.ts'
import { World } from './world.ts'

/** A call that was placed, on whose line this is heard. */
async function hearing(sounds: readonly number[][], plan = {}): Promise<World> {
  const world = new World({ plan: { readsParty: true, ...plan }, isHeard: () => false })
  world.begin()
  await world.clock.advance(500)
  for (const frame of frames(...sounds)) {
    if (world.isOver) break
    world.session.fromCaller(frame)
    await world.clock.advance(20)
  }
  return world
}

const answers = ({ notes }: World) => notes.flatMap((note) => (note.type === 'answered' ? [[note.by, note.from]] : []))

describe('Who answers a call that was placed', () => {
  it('is known to be a person while they are greeted, no later than without it', async () => {
    const greetedAt = async (readsParty: boolean) => {
      const world = await hearing([voice(700), quiet(1_500)], { readsParty })
      const { greetedAtMs } = world.session.state
      if (readsParty) expect(answers(world)).toEqual([['human', 'cadence']])
      world.endStream()
      await world.run(10_000)
      expect([world.errors, world.session.held]).toEqual([[], []])
      return greetedAtMs
    }
    expect(await greetedAt(true)).toBe(await greetedAt(false))
  })

  it('is asked no more once the call is over, though nobody knows', async () => {
    const world = await hearing([voice(4_000)])
    expect(world.session.held).toContain('reader')
    world.endStream()
    await world.run(10_000)
    expect([answers(world), world.errors, world.session.held]).toEqual([[], [], []])
  })

  it('is a fax machine, and the call is over', async () => {
    const world = await hearing([quiet(300), tones([2_100], 3_000)])
    await world.run(10_000)
    expect([answers(world), world.ends, world.hangUps]).toEqual([[['fax', 'tone']], ['voicemail'], 1])
    expect([world.errors, world.session.held]).toEqual([[], []])
    // What was heard is told in the log of its events: it can be run again.
    expect(replay(world.log.read()).difference).toBeNull()
  })

  it('is a mailbox, which hears the message behind its beep', async () => {
    const greeting = [voice(3_200), quiet(200), tones([1_000], 500), quiet(4_000)]
    const world = await hearing(greeting, { voicemail: 'Please call us back.' })
    await world.run(30_000)
    expect(answers(world)).toEqual([['machine_end_beep', 'tone']])
    expect(world.ends).toEqual(['voicemail'])
    expect(world.errors).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import type { Act } from './caller.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { GOLDEN_CALL } from './golden-call.ts'
import { World, type WorldOptions } from './world.ts'

const LIMIT_MS = 240_000
const HOURS: Act = { cue: { afterSilenceMs: 500 }, say: 'What are your opening hours?', forMs: 1_800 }
const HANG_UP: Act = { cue: { afterMs: 15_000 }, hangUp: true }
/** The answer to what was heard, half a minute in which the caller is asked twice, and a goodbye that no mark comes back for. */
const ENDED_WITHIN_MS = 60_000

/** More would be dead air. */
const QUIET_MS = 2_500

/** A call to its end, which leaves nothing behind, and in which nothing that was silenced is heard. */
async function called(options: WorldOptions, meanwhile?: (world: World) => Promise<void>): Promise<World> {
  const world = new World(options)
  world.begin()
  await meanwhile?.(world)
  await world.run(LIMIT_MS)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...world.model.offences]).toEqual([])
  expect(replay(world.log.read()).difference).toBeNull()
  return world
}

const said = ({ transcript }: World) => transcript.map(({ role, text }) => `${role}: ${text}`)

/** The caller's audio stays away for `ms` in the middle of a sentence; `quietMs` is from the last word that came to the answer. */
async function calledWithGap(ms: number): Promise<{ world: World; quietMs: number }> {
  let gapMs = Number.POSITIVE_INFINITY
  const isHeard = (nowMs: number) => nowMs < gapMs || nowMs >= gapMs + ms
  const world = await called({ script: [HOURS, HANG_UP], isHeard }, async (world) => {
    await world.until(() => world.caller.utterances.length > 0)
    gapMs = world.clock.monotonicMs() + 600
  })
  const { endMs = 0 } = world.caller.utterances[0] ?? {}
  const answer = world.carrier.sent.find(({ type, atMs }) => type === 'media' && atMs > gapMs)
  return { world, quietMs: (answer?.atMs ?? 0) - (gapMs + ms < endMs ? endMs : gapMs) }
}

describe('A carrier', () => {
  it('F3: of which nothing comes any more, and nobody is told, is asked to end the call within a minute', async () => {
    let holeMs = 0
    const world = await called({ script: [HOURS, HANG_UP] }, async (world) => {
      await world.until(() => world.caller.utterances.length > 0)
      await world.clock.advance(600)
      holeMs = world.clock.monotonicMs()
      world.loseLine()
    })
    expect([world.ends, world.hangUps]).toEqual([['idle_timeout'], 1])
    expect((world.endedAtMs ?? 0) - holeMs).toBeLessThan(ENDED_WITHIN_MS)
  })

  it('F8: that echoes no mark is believed by the clock, and the agent hangs up all the same', async () => {
    const world = await called({ ...GOLDEN_CALL, marksLateMs: Number.POSITIVE_INFINITY })
    expect([world.ends, world.hangUps, faultsOfHeard(world)]).toEqual([['agent_hangup'], 1, []])
    expect(world.toolRuns.map(({ name }) => name)).toEqual(['book_table', 'end_call'])
  })

  it('F9: that echoes its marks 3 s late is as any other, and so is what is known to have been heard', async () => {
    const world = await called({ ...GOLDEN_CALL, marksLateMs: 3_000 })
    expect([world.ends, world.hangUps, faultsOfHeard(world)]).toEqual([['agent_hangup'], 1, []])
    expect(world.toolRuns.map(({ name }) => name)).toEqual(['book_table', 'end_call'])
  })

  it.each([
    ['F10: that loses 200 ms of a sentence', 200],
    ['F10: that loses 12 s, and the end of a sentence with them,', 12_000],
    ['F11: that sends nothing for 5 s in the middle of a sentence', 5_000],
  ])('%s goes on with the call, and the sentence is answered', async (_what, ms) => {
    const { world, quietMs } = await calledWithGap(ms)
    expect(quietMs).toBeLessThan(QUIET_MS)
    expect([world.ends, faultsOfHeard(world)]).toEqual([['caller_hangup'], []])
    expect(said(world)).toContain('caller: What are your opening hours?')
    expect(said(world).some((line) => line.startsWith('agent: We are open'))).toBe(true)
  })
})

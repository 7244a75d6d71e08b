import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { GOLDEN_CALL } from './golden-call.ts'
import { World, type WorldOptions } from './world.ts'

const FALLBACK = { ...GOLDEN_CALL, plan: { ...GOLDEN_CALL.plan, fallback: { price: null } } }

async function called(options: WorldOptions, meanwhile: (world: World) => Promise<void>): Promise<World> {
  const world = new World(options)
  world.begin()
  await meanwhile(world)
  await world.run(240_000)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
  expect(world.model.offences).toEqual([])
  return world
}

const tools = ({ toolRuns }: World) => toolRuns.map(({ name }) => name)

describe('A model session that is lost', () => {
  it('is replaced within a second, wherever in the call that is, and nothing that was done is done again', async () => {
    for (let atMs = 1_000; atMs <= 31_000; atMs += 1_500) {
      let lostAtMs = 0
      const world = await called(GOLDEN_CALL, async (world) => {
        await world.clock.advance(atMs)
        lostAtMs = world.clock.monotonicMs()
        world.model.current?.drop('1006')
        await world.until(() => world.session.state.model.isReady || world.isOver, 1_000)
        expect([atMs, world.session.state.model.isReady || world.session.state.ending !== null]).toEqual([atMs, true])
      })
      expect([atMs, world.session.state.model.readyAtMs - lostAtMs <= 1_000]).toEqual([atMs, true])
      expect([atMs, ...tools(world).filter((name) => name !== 'end_call')]).toEqual([atMs, 'book_table'])
    }
  })

  it('while its provider takes nobody for eight seconds is replaced after them, and the call goes on to its own end', async () => {
    for (let atMs = 1_000; atMs <= 25_000; atMs += 6_000) {
      const world = await called(GOLDEN_CALL, async (world) => {
        await world.clock.advance(atMs)
        const backAtMs = world.clock.monotonicMs() + 8_000
        world.model.current?.drop('1006')
        for (let lost = world.model.sessions.length; world.clock.monotonicMs() < backAtMs; ) {
          await world.until(() => world.model.sessions.length > lost, backAtMs - world.clock.monotonicMs())
          if (world.clock.monotonicMs() < backAtMs) world.model.sessions.at(-1)?.drop('econnrefused')
          lost = world.model.sessions.length
        }
      })
      expect([atMs, world.apologies, world.ends]).toEqual([
        atMs,
        0,
        [expect.stringMatching(/agent_hangup|idle_timeout/)],
      ])
      expect([atMs, tools(world).filter((name) => name !== 'end_call').length <= 1]).toEqual([atMs, true])
      expect(replay(world.log.read()).difference).toBeNull()
    }
  })

  it('for the third time in ten seconds is one of the other model, which ends the call as this one would have', async () => {
    const world = await called(FALLBACK, async (world) => {
      await world.until(() => world.transcript.some(({ role }) => role === 'caller'))
      for (let losses = 0; losses < 3; losses++) {
        await world.until(() => world.model.current !== undefined)
        world.model.current?.drop('1006')
      }
    })
    expect(world.fallbacks).toEqual([false, false, false, true])
    expect([world.ends, world.apologies, tools(world)]).toEqual([['agent_hangup'], 0, ['book_table', 'end_call']])
  })

  it('for good is one of the other model, at any moment of a call', async () => {
    for (let atMs = 500; atMs <= 30_500; atMs += 2_000) {
      const world = await called(FALLBACK, async (world) => {
        await world.clock.advance(atMs)
        world.model.current?.drop('insufficient_quota', 'fatal')
      })
      expect([atMs, world.fallbacks, world.apologies]).toEqual([atMs, [false, true], 0])
      expect([atMs, ...tools(world).filter((name) => name !== 'end_call')]).toEqual([atMs, 'book_table'])
    }
  })
})

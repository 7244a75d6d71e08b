import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { GOLDEN_CALL } from './golden-call.ts'
import type { VirtualSession } from './model-session.ts'
import { World, type WorldOptions } from './world.ts'

const LIMIT_MS = 240_000

/** A golden call to its end, whatever becomes of its model meanwhile: nothing is left of it, and nothing was said in vain. */
async function called(
  meanwhile: (world: World) => Promise<unknown>,
  options: WorldOptions = GOLDEN_CALL,
): Promise<World> {
  const world = new World(options)
  world.begin()
  await meanwhile(world)
  await world.run(LIMIT_MS)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
  expect(world.toolRuns.filter(({ name }) => name === 'book_table').length).toBeLessThanOrEqual(1)
  return world
}

/** The session that was opened first, before it is set up. */
function first({ model }: World): VirtualSession {
  const [session] = model.sessions
  if (!session) throw new Error('no session was opened')
  return session
}

/** In the middle of the answer to the first turn. */
const inSpeech = (world: World) => world.until(() => world.hearing()?.startsWith('We are open') ?? false)
const booked = ({ toolRuns }: World) => toolRuns.some(({ name }) => name === 'book_table')

describe('A model', () => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    ['F30: that refuses the connection', async (world) => first(world).drop('econnrefused')],
    [
      'F32: that has too much to do at the handshake',
      async (world) => {
        first(world).emit({ type: 'rate_limited', resetMs: 2_000 })
        await world.clock.advance(60)
        first(world).drop('handshake_429')
        await world.clock.advance(1_800)
        expect(world.model.sessions).toHaveLength(1)
      },
    ],
    [
      'F33: that never grants its settings',
      async (world) => {
        first(world).fallIntoHole()
        await world.clock.advance(4_800)
        expect(world.model.sessions).toHaveLength(1)
        await world.clock.advance(300)
        expect(world.model.sessions).toHaveLength(2)
      },
    ],
    [
      'F35: whose connection ends in the middle of a word',
      async (world) => {
        await inSpeech(world)
        world.model.current?.drop('1000')
      },
    ],
    [
      'F36: whose connection breaks in the middle of a word',
      async (world) => {
        await inSpeech(world)
        world.model.current?.drop('1006')
      },
    ],
    [
      'F37: of which nothing comes any more, and nobody is told,',
      async (world) => {
        await inSpeech(world)
        world.model.current?.fallIntoHole()
      },
    ],
    [
      'F38: whose session has expired',
      async (world) => {
        await inSpeech(world)
        world.model.current?.drop('session_expired', 'expired')
      },
    ],
    [
      'F43: that would not cut what was not heard',
      async (world) => {
        await world.until(() => world.notes.some(({ type }) => type === 'interrupted'))
        const refusal = { code: 'item_truncate_invalid', message: 'too long', fault: 'benign' } as const
        world.model.current?.emit({ type: 'refused', requestId: null, ...refusal })
      },
    ],
  ])('%s costs a pause: the call goes on to its own end', async (_what, fault) => {
    const world = await called(fault)
    expect([world.apologies, booked(world)]).toEqual([0, true])
    expect(world.ends[0]).toMatch(/agent_hangup|caller_hangup|idle_timeout/)
    expect(world.model.offences).toEqual([])
  })

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['F31: that does not know the key', async (world) => first(world).drop('handshake_401', 'fatal')],
    ['F34: that refuses its settings', async (world) => first(world).drop('unknown_parameter', 'setup')],
    [
      'F40: whose account is used up',
      async (world) => {
        await inSpeech(world)
        const refusal = { code: 'insufficient_quota', message: 'none left', fault: 'fatal' } as const
        world.model.current?.emit({ type: 'refused', requestId: null, ...refusal })
      },
    ],
  ])('%s is asked once: an apology, or the other model where there is one', async (_what, fault) => {
    const alone = await called(fault)
    expect([alone.ends, alone.apologies, alone.model.sessions.length]).toEqual([['model_lost'], 1, 1])
    const plan = { ...GOLDEN_CALL.plan, fallback: { price: null } }
    const world = await called(fault, { ...GOLDEN_CALL, plan })
    expect([world.fallbacks, world.apologies, booked(world)]).toEqual([[false, true], 0, true])
  })

  it('that dies unnoticed while it listens costs a pause of seconds: the call goes on to its own end', async () => {
    let deadAtMs = 0
    const world = await called(async (world) => {
      await world.until(() => world.transcript.some(({ role }) => role === 'caller'))
      await world.until(() => world.model.current?.isAnswering === false && world.hearing() === null)
      world.model.current?.fallIntoHole(12_000)
      deadAtMs = world.clock.monotonicMs()
    })
    const [heardAgain] = world.carrier.sent.filter(({ type, atMs }) => type === 'media' && atMs > deadAtMs)
    expect((heardAgain?.atMs ?? 0) - deadAtMs).toBeLessThan(14_000)
    expect([world.apologies, booked(world), world.model.sessions.length]).toEqual([0, true, 2])
    expect(replay(world.log.read()).difference).toBeNull()
  })

  it('that takes its time is bridged by a sound, behind which its answer is heard', async () => {
    const world = await called(async () => undefined, { ...GOLDEN_CALL, times: { firstAudioMs: 3_200 } })
    const { sent } = world.carrier
    const soundAtMs = sent.find(({ type }) => type === 'sound')?.atMs ?? 0
    const answer = sent.find(({ type, atMs }) => type === 'media' && atMs > soundAtMs)
    expect(sent.filter(({ type }) => type === 'sound')).toContainEqual({ type: 'sound', atMs: soundAtMs, ms: 500 })
    expect((answer?.atMs ?? 0) - soundAtMs).toBeLessThan(1_000)
  })

  /** It begins each answer from the first turn on, and does not go on with it. */
  const breaksOff = async (world: World, how: (session: VirtualSession | undefined) => void = () => {}) => {
    await world.until(() => world.transcript.some(({ role }) => role === 'caller'))
    const atMs = world.clock.monotonicMs()
    world.times.brokenAfterMs = 200
    for (let sessions = 0; !world.isOver && world.fallbacks.at(-1) === false; ) {
      await world.until(() => world.isOver || world.model.sessions.length > sessions, 5_000)
      sessions = world.model.sessions.length
      if (world.fallbacks.at(-1)) break
      await world.until(() => world.isOver || world.model.current?.isAnswering === true, 5_000)
      await world.clock.advance(400)
      if (!world.isOver && !world.fallbacks.at(-1)) how(world.model.current)
    }
    return atMs
  }

  it.each<[string, ((session: VirtualSession | undefined) => void) | undefined]>([
    ['and still does what it is told', undefined],
    ['and hears nothing any more', (session) => session?.fallIntoHole()],
  ])('that says a little of each answer and no more, %s, is given up as a lost one is', async (_what, how) => {
    let brokeAtMs = 0
    const breaking = async (world: World) => {
      brokeAtMs = await breaksOff(world, how)
    }
    const alone = await called(breaking)
    expect([alone.ends, alone.apologies]).toEqual([['model_lost'], 1])
    expect((alone.endedAtMs ?? 0) - brokeAtMs).toBeLessThan(31_000)
    expect(alone.model.answers.length).toBeLessThanOrEqual(6)
    expect(replay(alone.log.read()).difference).toBeNull()
    const plan = { ...GOLDEN_CALL.plan, fallback: { price: null } }
    const world = await called(
      async (world) => {
        await breaking(world)
        world.times.brokenAfterMs = undefined
      },
      { ...GOLDEN_CALL, plan },
    )
    expect([world.fallbacks, world.apologies]).toEqual([[false, true], 0])
    expect(world.ends[0]).toMatch(/agent_hangup|caller_hangup|idle_timeout/)
  })

  it('F41: that speaks on after it was told to stop is not heard', async () => {
    const world = await called(async () => {}, { ...GOLDEN_CALL, times: { deltaEveryMs: 180 } })
    expect(world.model.answers.filter(({ cancelledAtMs }) => cancelledAtMs !== null).length).toBeGreaterThan(0)
    expect(world.session.media.lateDeltas).toBeGreaterThan(0)
  })

  it.each([
    ['F44: that never writes down what callers say', [10_000_000]],
    ['F44: that writes it down six seconds later', [6_000]],
    ['F44: that writes it down out of order', [2_500, 100, 900]],
  ])('%s answers all the same, and the record is in order', async (_what, transcriptMs) => {
    const world = await called(async () => {}, { ...GOLDEN_CALL, times: { transcriptMs } })
    expect([world.ends, booked(world)]).toEqual([['agent_hangup'], true])
    const said = world.transcript.filter(({ role }) => role === 'caller').map(({ text }) => text)
    const isTold = transcriptMs[0] !== 10_000_000
    const script = ['What are your opening hours?', 'Do you have a table for two tonight?', 'Yes, book it please.']
    expect(said.filter((text) => text !== '').slice(0, 3)).toEqual(isTold ? script : [])
  })
})

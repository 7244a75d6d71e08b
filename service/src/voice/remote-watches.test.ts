import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import type { Bus } from '../platform/bus/port.ts'
import { makeLog } from '../platform/log.ts'
import { answerRemoteCalls } from './answer-remote-calls.ts'
import { liveCallsHere } from './live-calls.ts'
import type { LiveEvent, LiveEvents } from './live-events.ts'
import { someLiveSession } from './live-session.fixture.ts'
import { LiveSessions } from './live-sessions.ts'
import { type CallQuestion, callsTopic, type WatchBegun, watchTopic } from './remote-calls.ts'
import { makeRemoteWatches, type RemoteWatches } from './remote-watches.ts'

const ACME = 'acme' as TenantId
const [HERE, THERE] = ['node-1', 'node-2'] as [NodeId, NodeId]
const WANTED = { tenantId: ACME, streamSid: 'MZ1', afterId: 0 }

let clock: TestClock
let bus: Bus
let events: LiveEvents
let watches: RemoteWatches
let stopAnswers: () => void

beforeEach(() => {
  clock = new TestClock()
  bus = makeBus({ wire: memoryWire(), clock, log: makeLog({ level: 'silent', secrets: [] }), onDropped: () => {} })
  const live = new LiveSessions(clock)
  const session = someLiveSession()
  events = session.events
  live.add(session)
  stopAnswers = answerRemoteCalls({ bus, clock, nodeId: THERE, live, here: liveCallsHere(live, clock) })
  watches = makeRemoteWatches({ bus, clock, nodeId: HERE })
})

/** Watches the call of the other node, and notes what it is told. */
async function watch(afterId = 0) {
  const watched = await watches.begin(THERE, { ...WANTED, afterId })
  const state = { ids: [] as number[], isBroken: false }
  const stop = watched.watch(
    afterId,
    (event) => state.ids.push(event.id),
    () => {
      state.isBroken = true
    },
  )
  return { state, stop }
}

const publish = () => events.publish('state', { state: 'talking' })

describe('a call of another node that is watched', () => {
  it('tells what was kept and what happens, once each and in order', async () => {
    for (let n = 0; n < 3; n += 1) publish()
    const { state } = await watch(1)
    for (let n = 0; n < 3; n += 1) publish()
    await until(() => state.ids.length === 5, { what: 'the events' })
    expect(state).toEqual({ ids: [2, 3, 4, 5, 6], isBroken: false })
  })

  it('tells what happens between its beginning and its first watcher', async () => {
    const watched = await watches.begin(THERE, WANTED)
    publish()
    const ids: number[] = []
    await clock.advance(0)
    watched.watch(
      0,
      ({ id }) => ids.push(id),
      () => {},
    )
    expect(ids).toEqual([1])
  })

  it('breaks when an event was lost on the way', async () => {
    const { state } = await watch()
    publish()
    await until(() => state.ids.length === 1, { what: 'the first event' })
    const [watchId] = await watchIds()
    const event: LiveEvent = { id: 4, event: 'state', data: {} }
    bus.publish(watchTopic(HERE), { watchId, event })
    await until(() => state.isBroken, { what: 'the break' })
    expect(state.ids).toEqual([1, 2])
  })

  it('breaks when the node that has it does not know of it any more', async () => {
    const { state } = await watch()
    await clock.advance(14_000)
    expect(state.isBroken).toBe(false)
    stopAnswers()
    await clock.advance(5_000)
    await until(() => state.isBroken, { what: 'the break' })
  })

  it('is not broken when it is to be renewed while the node that has it begins', async () => {
    stopAnswers()
    const begun = Promise.withResolvers<WatchBegun>()
    bus.answer(callsTopic(THERE), (asked) => ((asked as CallQuestion).type === 'watch' ? begun.promise : false))
    await clock.advance(4_900)
    const watching = watch()
    await clock.advance(200)
    begun.resolve({ kept: [], lastId: 0 })
    expect((await watching).state.isBroken).toBe(false)
  })

  it('is let go by its node when the watcher has stopped, or is gone without a word', async () => {
    const { stop } = await watch()
    expect(await watchIds()).toHaveLength(1)
    stop()
    await clock.advance(0)
    expect(await watchIds()).toHaveLength(0)
    await watch()
    watches.close()
    await clock.advance(20_000)
    expect(await watchIds()).toHaveLength(0)
  })

  it('is watched by a hundred of a tenant from all nodes together', async () => {
    const [first] = await Promise.all(Array.from({ length: 100 }, () => watch()))
    await expect(watch()).rejects.toMatchObject({ code: 'rate_limited' })
    first?.stop()
    await clock.advance(0)
    await watch()
  })

  it('is not there for another tenant, nor for another stream', async () => {
    for (const wanted of [{ tenantId: 'other' as TenantId }, { streamSid: 'MZ2' }]) {
      await expect(watches.begin(THERE, { ...WANTED, ...wanted })).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await watchIds()).toHaveLength(0)
  })
})

/** The watches that are told of an event now. */
async function watchIds(): Promise<string[]> {
  const ids: string[] = []
  const stop = bus.subscribe(watchTopic(HERE), (message) => ids.push((message as { watchId: string }).watchId))
  publish()
  await clock.advance(0)
  stop()
  return ids
}

import type { Cancel, Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import { Followers } from '../platform/http/followers.ts'
import type { LiveCalls } from './live-calls.ts'
import { noSuchSession } from './live-calls.ts'
import type { LiveEvent } from './live-events.ts'
import type { LiveSessions } from './live-sessions.ts'
import {
  type CallQuestion,
  callsTopic,
  WATCHERS_OF_TENANT,
  type WatchBegun,
  type WatchedEvent,
  watchTopic,
} from './remote-calls.ts'

type Deps = { bus: Bus; clock: Clock; nodeId: NodeId; live: LiveSessions; here: LiveCalls }
type Watch = { stop(): void; untilMs: number }
type WatchQuestion = Extract<CallQuestion, { type: 'watch' }>

/** A watcher that says nothing for so long is gone. */
const LEASE_MS = 15_000
const SWEEP_INTERVAL_MS = 5_000
/** Each is told all that happens in its call. */
const MAX_WATCHES = 1_000

/** Answers what other nodes ask about the calls of this one, until the function that this returns is called. */
export function answerRemoteCalls({ bus, clock, nodeId, live, here }: Deps): Cancel {
  const watches = new Map<string, Watch>()
  const watchers = new Followers(WATCHERS_OF_TENANT)

  function stop(watchId: string): boolean {
    watches.get(watchId)?.stop()
    return watches.delete(watchId)
  }

  function renew(watchId: string): boolean {
    const watch = watches.get(watchId)
    if (watch) watch.untilMs = clock.monotonicMs() + LEASE_MS
    return watch !== undefined
  }

  /** All in one go: no event can come between what is kept and what is told. */
  function watch({ tenantId, streamSid, afterId, watchId, watcher }: WatchQuestion): WatchBegun {
    const session = live.find(tenantId, streamSid)
    if (!session) throw noSuchSession()
    if (watches.size >= MAX_WATCHES) throw new AppError('unavailable', 'Too many calls are watched from other nodes.')
    const leave = watchers.enter(tenantId)
    const kept: LiveEvent[] = []
    let tell = (event: LiveEvent): void => void kept.push(event)
    const stopTelling = session.events.watch(afterId, (event) => tell(event))
    tell = (event) => bus.publish(watchTopic(watcher), { watchId, event } satisfies WatchedEvent)
    const stop = () => {
      stopTelling()
      leave()
    }
    watches.set(watchId, { stop, untilMs: clock.monotonicMs() + LEASE_MS })
    return { kept, lastId: session.events.lastId }
  }

  const stopSweep = clock.every(SWEEP_INTERVAL_MS, () => {
    const nowMs = clock.monotonicMs()
    for (const [watchId, { untilMs }] of watches) if (untilMs <= nowMs) stop(watchId)
  })
  const stopAnswers = bus.answer(callsTopic(nodeId), (asked) => {
    const question = asked as CallQuestion
    switch (question.type) {
      case 'list':
        return here.list(question.tenantId)
      case 'get':
        return here.get(question.tenantId, question.streamSid)
      case 'act':
        return here.act(question.tenantId, question.streamSid, question.asked)
      case 'watch':
        return watch(question)
      case 'renew':
        return renew(question.watchId)
      case 'unwatch':
        return stop(question.watchId)
      default:
        throw new AppError('invalid_request', 'This node does not know the question: it has another version.')
    }
  })
  return () => {
    stopAnswers()
    stopSweep()
    for (const watchId of watches.keys()) stop(watchId)
  }
}

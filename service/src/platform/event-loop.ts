import { createHistogram, performance } from 'node:perf_hooks'
import type { Cancel } from '../kernel/clock.ts'
import type { CoarseClock } from '../kernel/coarse-clock.ts'
import type { Log } from './log.ts'

/** How busy the event loop was since the last look. */
export type LoopSample = {
  /** The share of the time in which it worked, 0 to 1. */
  utilisation: number
  /** How late it was, at the 99th percentile. */
  delayP99Ms: number
}

/** How late the event loop was since the last reading. */
export type LoopLag = { meanMs: number; p50Ms: number; p99Ms: number; maxMs: number }

/** Looks at the event loop of this process. Its two readings have nothing to do with each other, nor with who is told of its beats. */
export type EventLoopWatch = {
  sample(): LoopSample
  lag(): LoopLag
  /** Tells with each beat how late it came, in ms. */
  onBeat(listener: (lateMs: number) => void): Cancel
  /** Repeating it does nothing. */
  stop(): void
}

const NANOSECONDS_PER_MS = 1e6

/** Whoever is in a call hears nothing for so long, and a second later other nodes begin to take its calls. */
const STANDSTILL_MS = 2_000

/**
 * Begins to watch; the first readings are of the time since now. The beat of the clock tells how late it was: Node's own
 * monitor would need one timer more for each reader.
 */
export function watchEventLoop(clock: CoarseClock): EventLoopWatch {
  const [sampled, read] = [createHistogram(), createHistogram()]
  let last = performance.eventLoopUtilization()
  const stop = clock.onBeat((lateMs) => {
    // A histogram holds whole numbers from 1.
    const late = Math.max(1, Math.round(lateMs * NANOSECONDS_PER_MS))
    sampled.record(late)
    read.record(late)
  })
  return {
    stop,
    onBeat: (listener) => clock.onBeat(listener),
    sample() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      const delayP99Ms = sampled.percentile(99) / NANOSECONDS_PER_MS
      sampled.reset()
      return { utilisation: utilization, delayP99Ms }
    },
    lag() {
      const ms = (nanoseconds: number) => (read.count === 0 ? 0 : nanoseconds / NANOSECONDS_PER_MS)
      const lag = {
        meanMs: ms(read.mean),
        p50Ms: ms(read.percentile(50)),
        p99Ms: ms(read.percentile(99)),
        maxMs: ms(read.max),
      }
      read.reset()
      return lag
    },
  }
}

type StandstillDeps = {
  eventLoop: Pick<EventLoopWatch, 'onBeat'>
  log: Pick<Log, 'warn'>
  /** How many calls heard nothing meanwhile. */
  liveCalls: () => number
  /** Whether nobody can be waiting yet: what a start does is long, and at once. */
  isStarting: () => boolean
}

/** Says each time that nothing ran here for two seconds and more, stopped from outside, starved, or at one piece of work: nothing else tells why calls fell silent. */
export function tellStandstills({ eventLoop, log, liveCalls, isStarting }: StandstillDeps): Cancel {
  return eventLoop.onBeat((lateMs) => {
    if (lateMs < STANDSTILL_MS || isStarting()) return
    log.warn({ for_ms: Math.round(lateMs), live_calls: liveCalls() }, 'this process stood still')
  })
}

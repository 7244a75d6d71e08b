import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** How busy the event loop was since the last look. */
export type LoopSample = {
  /** The share of the time in which it worked, 0 to 1. */
  utilisation: number
  /** How late it was, at the 99th percentile. */
  delayP99Ms: number
}

/** Looks at the event loop of this process. */
export type EventLoopWatch = {
  sample(): LoopSample
  /** Repeating it does nothing. */
  stop(): void
}

const RESOLUTION_MS = 10
const NANOSECONDS_PER_MS = 1e6

/** Begins to watch; the first sample is of the time since now. */
export function watchEventLoop(): EventLoopWatch {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let last = performance.eventLoopUtilization()
  return {
    sample() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      // What is measured is the time from one look to the next: it is late by what exceeds the resolution.
      const delayP99Ms = Math.max(0, delays.percentile(99) / NANOSECONDS_PER_MS - RESOLUTION_MS)
      delays.reset()
      return { utilisation: utilization, delayP99Ms }
    },
    stop: () => void delays.disable(),
  }
}

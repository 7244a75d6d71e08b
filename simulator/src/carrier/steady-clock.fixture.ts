import type { Clock } from './clock.ts'

/** Two frames of a line: more than goes by between two looks where nothing holds the process up. */
const MOST_AT_ONCE_MS = 40

type Timer = { dueMs: number; run: () => void }

/**
 * A clock that runs `speed` times as fast as the wall's, and stands still with its process. A busy machine halts that for a tenth of a
 * second now and then, which would be half a second of a call at once: a time that is over before what was to be done in it.
 */
export function makeSteadyClock(speed: number): Clock {
  const startedAt = Date.now()
  const timers = new Set<Timer>()
  let passedMs = 0
  let lookedMs = performance.now()
  let next: NodeJS.Timeout | undefined

  function nowMs(): number {
    const atMs = performance.now()
    passedMs += Math.min((atMs - lookedMs) * speed, MOST_AT_ONCE_MS)
    lookedMs = atMs
    return passedMs
  }

  function arm(): void {
    clearTimeout(next)
    if (timers.size === 0) return
    const leftMs = Math.min(...[...timers].map(({ dueMs }) => dueMs)) - nowMs()
    next = setTimeout(fire, Math.max(0, Math.min(leftMs, MOST_AT_ONCE_MS / 2)) / speed)
  }

  function fire(): void {
    const atMs = nowMs()
    const due = [...timers].filter(({ dueMs }) => dueMs <= atMs).sort((a, b) => a.dueMs - b.dueMs)
    // One may prevent another.
    for (const timer of due) if (timers.delete(timer)) timer.run()
    arm()
  }

  return {
    nowMs,
    date: () => new Date(startedAt + nowMs()),
    pending: () => timers.size,
    after(delayMs, run) {
      const timer = { dueMs: nowMs() + Math.max(0, delayMs), run }
      timers.add(timer)
      arm()
      return () => {
        timers.delete(timer)
        arm()
      }
    },
  }
}

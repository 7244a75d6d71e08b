/** Time as the carrier lives it. All of its timers come from here, so a test can let a call pass faster with a clock of its own. */
export type Clock = {
  /** Milliseconds since the clock was made; it never goes back. */
  nowMs(): number
  /** The date that belongs to `nowMs`. */
  date(): Date
  /** Runs something once after a delay; the function that it returns prevents it. */
  after(delayMs: number, run: () => void): () => void
  /** Timers that are still to fire: 0 when everything was stopped. */
  pending(): number
}

// Longer timers overflow and fire at once.
const LONGEST_TIMER_MS = 2_147_483_647

/** Makes a clock of real time. */
export function makeClock(): Clock {
  const startedAt = Date.now()
  const started = performance.now()
  const timers = new Set<NodeJS.Timeout>()
  const nowMs = () => performance.now() - started
  return {
    nowMs,
    date: () => new Date(startedAt + nowMs()),
    pending: () => timers.size,
    after(delayMs, run) {
      const timer = setTimeout(
        () => {
          timers.delete(timer)
          run()
        },
        Math.min(LONGEST_TIMER_MS, Math.max(0, delayMs)),
      )
      timers.add(timer)
      return () => {
        clearTimeout(timer)
        timers.delete(timer)
      }
    },
  }
}

/** Waits; true when the time has passed, false as soon as the signal aborts. */
export function elapsed(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const stop = () => {
      cancel()
      resolve(false)
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', stop)
      resolve(true)
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}

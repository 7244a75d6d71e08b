import type { Clock } from '../kernel/clock.ts'

/** Resolves after the time, or as soon as the signal says that there is none left. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const go = () => {
      cancel()
      signal.removeEventListener('abort', go)
      resolve()
    }
    const cancel = clock.after(ms, go)
    signal.addEventListener('abort', go)
  })
}

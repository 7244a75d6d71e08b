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

/** Settles as the work does; @throws the signal's reason as soon as that says that there is no time left. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const stop = () => resolve()
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  await Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop))
  signal.throwIfAborted()
  return work
}

import type { Clock } from '../../kernel/clock.ts'

/** Does the work with a signal that ends it after `withinMs`, or when `stopping` says so. */
export async function withDeadline<T>(
  clock: Clock,
  withinMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  stopping?: AbortSignal,
): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(withinMs, () => late.abort())
  const signal = stopping ? AbortSignal.any([late.signal, stopping]) : late.signal
  return work(signal).finally(cancel)
}

/** Cancels a timer; calling it again, or after it fired, does nothing. */
export type Cancel = () => void

/**
 * Where all time comes from, so that a test can hold it still or move it.
 *
 * `now` is wall-clock milliseconds since the epoch (for instants that are stored or shown); `monotonicMs` never jumps and
 * has sub-millisecond digits (for measuring and for deadlines). Timers never keep the process alive by themselves.
 */
export type Clock = {
  now(): number
  monotonicMs(): number
  /** Runs `task` once after `delayMs`. */
  after(delayMs: number, task: () => void): Cancel
  /** Runs `task` every `intervalMs` until cancelled. A task that throws ends the process like any uncaught error. */
  every(intervalMs: number, task: () => void): Cancel
}

/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
  every(intervalMs, task) {
    const timer = setInterval(task, intervalMs)
    timer.unref()
    return () => clearInterval(timer)
  },
}

/**
 * Keeps the process alive until cancelled: for a wait that only a timer will end, because a process whose timers are all
 * that is left ends as if it were done.
 */
export function keepAlive(): Cancel {
  const timer = setInterval(() => {}, LONGEST_TIMER_MS)
  return () => clearInterval(timer)
}

/** A timer that is later than this was kept from its time: the machine slept, the process was stopped or had no processor. */
export const STOOD_STILL_MS = 1_000

/**
 * Runs `task` once `timeoutMs` have passed in which somebody else could have answered. A process that stood still meanwhile has
 * read no answer, and meets its timers before what has arrived: it waits as long once more.
 */
export function atDeadline(clock: Clock, timeoutMs: number, task: () => void): Cancel {
  const lateFromMs = clock.monotonicMs() + timeoutMs + STOOD_STILL_MS
  let cancel = clock.after(timeoutMs, () => {
    if (clock.monotonicMs() < lateFromMs) task()
    else cancel = clock.after(timeoutMs, task)
  })
  return () => cancel()
}

/**
 * Resolves like `work`, or rejects with the error that `late` makes once `timeoutMs` have passed, as `atDeadline` counts them.
 *
 * The work itself is not stopped: hand it a signal of its own where it can be.
 */
export function withTimeout<T>(clock: Clock, work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = atDeadline(clock, timeoutMs, () => reject(late()))
    work.then(resolve, reject).finally(cancel)
  })
}

/** Does the work with a signal that ends it after `withinMs`, as `atDeadline` counts them, or when `stopping` says so. */
export async function withDeadline<T>(
  clock: Clock,
  withinMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  stopping?: AbortSignal,
): Promise<T> {
  const late = new AbortController()
  const cancel = atDeadline(clock, withinMs, () => late.abort())
  const signal = stopping ? AbortSignal.any([late.signal, stopping]) : late.signal
  return work(signal).finally(cancel)
}

/** What `work` comes to within `timeoutMs`; null when it fails or takes longer: for waits after which the same is done in any case. */
export function waitAtMost<T>(clock: Clock, work: Promise<T>, timeoutMs: number): Promise<T | null> {
  return withTimeout(clock, work, timeoutMs, () => new Error('it takes its time')).catch(() => null)
}

const LOOK_INTERVAL_MS = 100

/** Resolves once that is so no longer, or the time is up; looks every 100 ms. */
export async function waitWhile(clock: Clock, isSo: () => boolean | undefined, timeoutMs: number): Promise<void> {
  const endMs = clock.monotonicMs() + timeoutMs
  while (isSo() && clock.monotonicMs() < endMs) {
    await new Promise<void>((resolve) => clock.after(LOOK_INTERVAL_MS, resolve))
  }
}

/** Lets everything else that is waiting go first: to be awaited between the slices of long work, none longer than 5 ms. */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

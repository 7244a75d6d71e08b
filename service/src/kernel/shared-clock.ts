import type { Cancel, Clock } from './clock.ts'

/** Less is what answers take, and no reason to let stored instants go back. */
const TOLERANCE_MS = 1_000

/**
 * A clock whose `now` is that of another one which several processes ask, so that instants which they store for each other mean the
 * same to all of them, whatever their machines' clocks say. Between two answers it goes on with what never jumps; before the first
 * it is its machine's.
 */
export class SharedClock implements Clock {
  readonly #base: Clock
  #offsetMs: number

  constructor(base: Clock) {
    this.#base = base
    this.#offsetMs = base.now() - base.monotonicMs()
  }

  now(): number {
    return Math.round(this.#base.monotonicMs() + this.#offsetMs)
  }

  monotonicMs(): number {
    return this.#base.monotonicMs()
  }

  after(delayMs: number, task: () => void): Cancel {
    return this.#base.after(delayMs, task)
  }

  every(intervalMs: number, task: () => void): Cancel {
    return this.#base.every(intervalMs, task)
  }

  /**
   * The other clock said `saidMs` at some instant since `askedMs`, of `monotonicMs`.
   *
   * @returns by how many ms this one was put forward, or back (negative); 0 while they agree to within a second.
   */
  heard(saidMs: number, askedMs: number): number {
    const answeredMs = this.#base.monotonicMs()
    const behindMs = saidMs - ((askedMs + answeredMs) / 2 + this.#offsetMs)
    if (Math.abs(behindMs) <= TOLERANCE_MS + (answeredMs - askedMs) / 2) return 0
    this.#offsetMs += behindMs
    return Math.round(behindMs)
  }
}

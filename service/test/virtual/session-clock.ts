import type { Cancel, Clock } from '../../src/kernel/clock.ts'

/** The timers of one owner on a clock that others use as well: what was closed must have left none. */
export class SessionClock implements Clock {
  readonly #clock: Clock
  readonly #pending = new Set<Cancel>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get pendingTimers(): number {
    return this.#pending.size
  }

  now(): number {
    return this.#clock.now()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  after(delayMs: number, task: () => void): Cancel {
    const cancel = this.#clock.after(delayMs, () => {
      this.#pending.delete(stop)
      task()
    })
    const stop = () => {
      this.#pending.delete(stop)
      cancel()
    }
    this.#pending.add(stop)
    return stop
  }

  every(intervalMs: number, task: () => void): Cancel {
    const cancel = this.#clock.every(intervalMs, task)
    const stop = () => {
      this.#pending.delete(stop)
      cancel()
    }
    this.#pending.add(stop)
    return stop
  }
}

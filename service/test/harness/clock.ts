import type { Cancel, Clock } from '../../src/kernel/clock.ts'

type Timer = { dueMs: number; intervalMs: number | null; task: () => void }

/** A clock that stands still until the test moves it. */
export class TestClock implements Clock {
  #startMs: number
  readonly #timers = new Set<Timer>()
  #elapsedMs = 0

  /** @param startMs wall-clock milliseconds since the epoch. */
  constructor(startMs: number = Date.UTC(2030, 0, 1)) {
    this.#startMs = startMs
  }

  now(): number {
    return this.#startMs + this.#elapsedMs
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  /** The machine's clock is set: `now` jumps, and nothing else does. */
  jump(ms: number): void {
    this.#startMs += ms
  }

  /** How many timers have neither fired nor been cancelled: what was closed must have left none. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  after(delayMs: number, task: () => void): Cancel {
    return this.#add({ dueMs: this.#elapsedMs + delayMs, intervalMs: null, task })
  }

  every(intervalMs: number, task: () => void): Cancel {
    if (intervalMs <= 0) throw new RangeError(`an interval of ${intervalMs} ms never ends`)
    return this.#add({ dueMs: this.#elapsedMs + intervalMs, intervalMs, task })
  }

  /**
   * Moves time forward and fires what falls due, in order and each at its instant. After each timer, promises that can go
   * on without a socket or a thread do; what waits for one of these is awaited with `until`.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms
    for (let timer = this.#next(endMs); timer; timer = this.#next(endMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs)
      this.#fire(timer)
      await settled()
    }
    this.#elapsedMs = endMs
    await settled()
  }

  /** Time has passed in which the process slept: timers that fell due in it fire with the next `advance`, once each. */
  skip(ms: number): void {
    this.#elapsedMs += ms
    for (const timer of this.#timers) timer.dueMs = Math.max(timer.dueMs, this.#elapsedMs)
  }

  #add(timer: Timer): Cancel {
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** The earliest; of several for one instant the one that was set first, as Node does. */
  #next(endMs: number): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (next === null || timer.dueMs < next.dueMs)) next = timer
    }
    return next
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer)
    if (timer.intervalMs !== null) {
      timer.dueMs += timer.intervalMs
      this.#timers.add(timer)
    }
    timer.task()
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

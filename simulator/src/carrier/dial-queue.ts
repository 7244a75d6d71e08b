import type { Clock } from './clock.ts'

/** Lets calls out one after the other, at the account's rate; the others wait. */
export class DialQueue {
  #clock: Clock
  #spacingMs: number
  #nextMs = Number.NEGATIVE_INFINITY
  #timers = new Set<() => void>()

  constructor(clock: Clock, callsPerSecond: number) {
    this.#clock = clock
    this.#spacingMs = 1000 / callsPerSecond
  }

  /** Runs `dial` as soon as its turn comes and tells it how long it waited. */
  add(dial: (waitedMs: number) => void): void {
    const nowMs = this.#clock.nowMs()
    const dueMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = dueMs + this.#spacingMs
    const cancel = this.#clock.after(dueMs - nowMs, () => {
      this.#timers.delete(cancel)
      dial(dueMs - nowMs)
    })
    this.#timers.add(cancel)
  }

  /** Forgets those that wait. */
  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }
}

import type { Clock } from '../../kernel/clock.ts'

/** What came of one use. Only the first thing that is said of it counts. */
export type Attempt = { succeeded(): void; failed(): void; dropped(): void }

export type CircuitLimits = {
  /** So many failures within the window, and nobody tries for `openMs`. */
  maxFailures: number
  windowMs: number
  openMs: number
}

/**
 * Keeps calls from a provider that fails: closed → open (nobody tries) → half open (one tries) → closed, or open again.
 *
 * One for each key of a provider, shared by all calls of the process.
 */
export class Circuit {
  readonly #clock: Clock
  readonly #limits: CircuitLimits
  #failedAtMs: number[] = []
  #openUntilMs: number | null = null
  #isBeingTried = false

  constructor(clock: Clock, limits: CircuitLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Whether the provider answers, as far as is known. */
  get isClosed(): boolean {
    return this.#openUntilMs === null
  }

  /** Whether somebody may try it now. */
  get mayTry(): boolean {
    return this.#openUntilMs === null || (!this.#isBeingTried && this.#clock.monotonicMs() >= this.#openUntilMs)
  }

  /** Null while nobody is to try. */
  begin(): Attempt | null {
    if (!this.mayTry) return null
    const isTrial = !this.isClosed
    if (isTrial) this.#isBeingTried = true
    let isSettled = false
    const settle = (settled: () => void) => () => {
      if (isSettled) return
      isSettled = true
      if (isTrial) this.#isBeingTried = false
      settled()
    }
    return {
      succeeded: settle(() => this.#succeeded(isTrial)),
      failed: settle(() => this.#failed(isTrial)),
      dropped: settle(() => {}),
    }
  }

  #succeeded(isTrial: boolean): void {
    if (!isTrial) return
    this.#openUntilMs = null
    this.#failedAtMs = []
  }

  /** What was begun before the circuit opened tells nothing new of it. */
  #failed(isTrial: boolean): void {
    const nowMs = this.#clock.monotonicMs()
    const { maxFailures, windowMs, openMs } = this.#limits
    if (!isTrial && !this.isClosed) return
    this.#failedAtMs = [...this.#failedAtMs.filter((atMs) => nowMs - atMs < windowMs), nowMs]
    if (isTrial || this.#failedAtMs.length >= maxFailures) this.#openUntilMs = nowMs + openMs
  }
}

import type { Clock } from '../../kernel/clock.ts'

/**
 * A beat each second, and nearly another one for what holds it up. After a stall of the database that is as long others seem silent for a
 * second more, and for three they are not silent yet.
 */
const MOST_BETWEEN_MS = 1_900

/**
 * For how long the database has taken the heartbeat of this node without a break. Who cannot write its own does not know whether
 * others can: their silence tells something only while this one is steady.
 */
export class SteadyBeats {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #sinceMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The database has taken a beat just now. */
  written(): void {
    const nowMs = this.#clock.monotonicMs()
    if (!this.#isSteadyAt(nowMs)) this.#sinceMs = nowMs
    this.#lastMs = nowMs
  }

  /** 0 while the last one is too long ago. */
  get forMs(): number {
    const nowMs = this.#clock.monotonicMs()
    return this.#isSteadyAt(nowMs) ? nowMs - this.#sinceMs : 0
  }

  #isSteadyAt(nowMs: number): boolean {
    return nowMs - this.#lastMs <= MOST_BETWEEN_MS
  }
}

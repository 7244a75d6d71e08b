import type { Clock } from '../../kernel/clock.ts'

/**
 * A beat each second, and nearly another one for what holds it up. After a stall of the database that is as long others seem silent for a
 * second more, and for three they are not silent yet.
 */
const MOST_BETWEEN_MS = 1_900

/**
 * For how long the database has taken the heartbeat of this node without a break, by a clock that nobody has set. Who cannot write its own does not know whether
 * others can: their silence tells something only while this one is steady.
 */
export class SteadyBeats {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #sinceMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY
  /** Why the last one was not written; null when it was. */
  #refusal: { err: unknown } | null = null
  #hasRoom = true

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The database has taken a beat just now. */
  written(): void {
    const nowMs = this.#clock.monotonicMs()
    if (!this.#isSteadyAt(nowMs)) this.#sinceMs = nowMs
    this.#lastMs = nowMs
    this.#refusal = null
  }

  /** Whether the disk of the database has room: beats need none, and go on to be heard. */
  room(hasRoom: boolean): void {
    this.#hasRoom = hasRoom
  }

  /** The database's clock was set: by it all others seem as silent as it was put forward, until each has written once more. */
  beginAnew(): void {
    this.#sinceMs = this.#clock.monotonicMs()
  }

  /** The database has not taken a beat. */
  refused(err: unknown): void {
    this.#refusal = { err }
  }

  /**
   * Whether the database takes what this node has to write: it may answer whoever reads while its disk is full. One beat that was not
   * taken is no matter yet.
   *
   * @throws what the beat was refused with, while it is too long ago that one was written.
   */
  expectTaken(): void {
    if (this.#refusal !== null && !this.#isSteadyAt(this.#clock.monotonicMs())) throw this.#refusal.err
  }

  /** 0 while the last one is too long ago. */
  get forMs(): number {
    const nowMs = this.#clock.monotonicMs()
    return this.#isSteadyAt(nowMs) ? nowMs - this.#sinceMs : 0
  }

  /** Whether the database takes what there is to write: the last beat just now, or a little earlier, and what needs room too. */
  get isTaking(): boolean {
    return this.#hasRoom && this.#isSteadyAt(this.#clock.monotonicMs())
  }

  #isSteadyAt(nowMs: number): boolean {
    return nowMs - this.#lastMs <= MOST_BETWEEN_MS
  }
}

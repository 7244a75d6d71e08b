import type { Cancel, Clock } from '../kernel/clock.ts'

/** Who has put something off, and looks at it when told to. `isPutOff`: whether its turn is still to come, which is noted by `PutOff`. */
export type Behind = { catchUp(): void; isPutOff: boolean }

/** So long nobody looks: behind it, each has their turn. */
const PUT_OFF_MS = 100
/** Everybody's audio waits while they look: after so long, which is that of some twenty frames, it goes first. */
const SLICE_MS = 0.5
const BETWEEN_SLICES_MS = 1

/**
 * What sessions put off, they all look at together.
 *
 * To look at something costs ten times as much when a processor's caches are full of something else than right behind another one of
 * its kind, and most of what happens to a call is of a kind for which nobody waits. So all sessions share their timers.
 */
export class PutOff {
  readonly #clock: Clock
  /** Whose turn it is when the timer fires. */
  #next: Behind[] = []
  /** Whose turn it is now, in this order. */
  #turn: Behind[] = []
  #cancelNext: Cancel | null = null
  #cancelTurn: Cancel | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Has it catch up soon. Again before then, it changes nothing. */
  add(session: Behind): void {
    if (session.isPutOff) return
    session.isPutOff = true
    this.#next.push(session)
    this.#cancelNext ??= this.#clock.after(PUT_OFF_MS, () => this.#begin())
  }

  /** It has nothing to catch up with any more. */
  remove(session: Behind): void {
    if (!session.isPutOff) return
    session.isPutOff = false
    this.#next = this.#next.filter((one) => one !== session)
    this.#turn = this.#turn.filter((one) => one !== session)
    if (this.#next.length === 0) {
      this.#cancelNext?.()
      this.#cancelNext = null
    }
    if (this.#turn.length === 0) {
      this.#cancelTurn?.()
      this.#cancelTurn = null
    }
  }

  /** Who puts something off from now on waits for the next time, however long this one takes. */
  #begin(): void {
    this.#cancelNext = null
    this.#turn = [...this.#turn, ...this.#next]
    this.#next = []
    if (!this.#cancelTurn) this.#look()
  }

  /** One that fails takes none of the others with it: they have the next slice. */
  #look(): void {
    const untilMs = this.#clock.monotonicMs() + SLICE_MS
    this.#cancelTurn = null
    try {
      for (let session = this.#turn.shift(); session; session = this.#turn.shift()) {
        session.isPutOff = false
        session.catchUp()
        if (this.#clock.monotonicMs() >= untilMs) break
      }
    } finally {
      if (this.#turn.length > 0) this.#cancelTurn ??= this.#clock.after(BETWEEN_SLICES_MS, () => this.#look())
    }
  }
}

import type { Cancel, Clock } from '../kernel/clock.ts'

/** Who has put something off, and looks at it when told to. */
export type Behind = { catchUp(): void }

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
  readonly #next = new Set<Behind>()
  /** Whose turn it is now, in this order. */
  readonly #turn = new Set<Behind>()
  #cancelNext: Cancel | null = null
  #cancelTurn: Cancel | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Has it catch up soon. Again before then, it changes nothing. */
  add(session: Behind): void {
    if (this.#turn.has(session)) return
    this.#next.add(session)
    this.#cancelNext ??= this.#clock.after(PUT_OFF_MS, () => this.#begin())
  }

  /** It has nothing to catch up with any more. */
  remove(session: Behind): void {
    this.#next.delete(session)
    this.#turn.delete(session)
    if (this.#next.size === 0) {
      this.#cancelNext?.()
      this.#cancelNext = null
    }
    if (this.#turn.size === 0) {
      this.#cancelTurn?.()
      this.#cancelTurn = null
    }
  }

  /** Who puts something off from now on waits for the next time, however long this one takes. */
  #begin(): void {
    this.#cancelNext = null
    for (const session of this.#next) this.#turn.add(session)
    this.#next.clear()
    if (!this.#cancelTurn) this.#look()
  }

  /** One that fails takes none of the others with it: they have the next slice. */
  #look(): void {
    const untilMs = this.#clock.monotonicMs() + SLICE_MS
    this.#cancelTurn = null
    try {
      for (const session of this.#turn) {
        this.#turn.delete(session)
        session.catchUp()
        if (this.#clock.monotonicMs() >= untilMs) break
      }
    } finally {
      if (this.#turn.size > 0) this.#cancelTurn ??= this.#clock.after(BETWEEN_SLICES_MS, () => this.#look())
    }
  }
}

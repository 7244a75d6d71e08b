import type { Cancel, Clock } from '../kernel/clock.ts'

/** Who has put something off, and looks at it when told to. */
export type Behind = { catchUp(): void }

/** The longest that anything is put off, but for the clock's own lateness. */
const PUT_OFF_MS = 100
/** Everybody's audio waits while they look: after so long, which is that of some twenty frames, it goes first. */
const SLICE_MS = 0.5
const BETWEEN_SLICES_MS = 1

/**
 * What sessions put off, they all look at together.
 *
 * To look at something costs ten times as much when a processor's caches are full of something else than right behind another one of
 * its kind, and most of what happens to a call is of a kind for which nobody waits. So there is one timer for all sessions.
 */
export class PutOff {
  readonly #clock: Clock
  readonly #behind = new Set<Behind>()
  #cancel: Cancel | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Has it catch up soon. Again before then, it changes nothing. */
  add(session: Behind): void {
    this.#behind.add(session)
    this.#cancel ??= this.#clock.after(PUT_OFF_MS, () => this.#catchUp())
  }

  /** It has nothing to catch up with any more. */
  remove(session: Behind): void {
    this.#behind.delete(session)
    if (this.#behind.size > 0) return
    this.#cancel?.()
    this.#cancel = null
  }

  /** One that fails takes none of the others with it: they have the next slice. */
  #catchUp(): void {
    const untilMs = this.#clock.monotonicMs() + SLICE_MS
    this.#cancel = null
    try {
      for (const session of this.#behind) {
        this.#behind.delete(session)
        session.catchUp()
        if (this.#clock.monotonicMs() >= untilMs) break
      }
    } finally {
      if (this.#behind.size > 0) this.#cancel ??= this.#clock.after(BETWEEN_SLICES_MS, () => this.#catchUp())
    }
  }
}

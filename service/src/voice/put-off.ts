import type { Cancel, Clock } from '../kernel/clock.ts'

/** Who has put something off, and looks at it when told to. */
export type Behind = { catchUp(): void }

/** The longest that anything is put off, but for the clock's own lateness. */
const PUT_OFF_MS = 100

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

  #catchUp(): void {
    this.#cancel = null
    const behind = [...this.#behind]
    this.#behind.clear()
    for (const session of behind) session.catchUp()
  }
}

import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TimerName } from './session/events.ts'

/** Told by the timers of a session. */
type Listener = {
  /** One of them wakes. What it does may be to put it off, or to disarm it. */
  waking(): void
  /** It has fallen due. */
  fired(timer: TimerName): void
}

/** One that waits. */
class Armed {
  /** When it is to fire. */
  dueMs: number
  /** When the clock's timer behind it does. */
  readonly wakesMs: number
  /** It was late already. */
  readonly hasWaited: boolean
  readonly cancel: Cancel

  constructor(dueMs: number, hasWaited: boolean, cancel: Cancel) {
    this.dueMs = dueMs
    this.wakesMs = dueMs
    this.hasWaited = hasWaited
    this.cancel = cancel
  }
}

/** A clock counts whole milliseconds, and may be early by less than one. */
const TOLERANCE_MS = 1
/** A process that wakes this late was held up, and what came for it meanwhile has not been read yet. */
const HELD_UP_MS = 100
/** Enough for that to be read. */
const CATCH_UP_MS = 20

/**
 * The timers of a session, one of each name.
 *
 * One that is put off, as the watch over an answer is with every piece of it, is not set anew: it wakes when it was to, and
 * sleeps on for the rest. One that wakes late waits a moment more: most of them tell that nothing was heard of somebody, and
 * that is not known before the sockets were read.
 */
export class SessionTimers {
  readonly #clock: Clock
  readonly #listener: Listener
  /** Null for one that was armed and is no more: a map that shrinks and grows all the time makes its tables among the old objects. */
  readonly #armed = new Map<TimerName, Armed | null>()

  constructor(clock: Clock, listener: Listener) {
    this.#clock = clock
    this.#listener = listener
  }

  /** Lets it fire once in `ms` from now, and not before, even if it was armed already. */
  arm(timer: TimerName, ms: number): void {
    const dueMs = this.#clock.monotonicMs() + ms
    const armed = this.#armed.get(timer)
    if (armed && armed.wakesMs <= dueMs) armed.dueMs = dueMs
    else {
      armed?.cancel()
      this.#sleep(timer, dueMs, { ms, hasWaited: false })
    }
  }

  disarm(timer: TimerName): void {
    const armed = this.#armed.get(timer)
    if (!armed) return
    armed.cancel()
    this.#armed.set(timer, null)
  }

  /** Those that have not fired. */
  get armed(): TimerName[] {
    return [...this.#armed].filter(([, armed]) => armed !== null).map(([timer]) => timer)
  }

  disarmAll(): void {
    for (const armed of this.#armed.values()) armed?.cancel()
    this.#armed.clear()
  }

  #sleep(timer: TimerName, dueMs: number, { ms, hasWaited }: { ms: number; hasWaited: boolean }): void {
    const cancel = this.#clock.after(ms, () => this.#wake(timer))
    this.#armed.set(timer, new Armed(dueMs, hasWaited, cancel))
  }

  #wake(timer: TimerName): void {
    const woken = this.#armed.get(timer)
    this.#listener.waking()
    const armed = this.#armed.get(timer)
    if (!armed || armed !== woken) return
    const nowMs = this.#clock.monotonicMs()
    const leftMs = armed.dueMs - nowMs
    const isPutOff = armed.dueMs > armed.wakesMs && leftMs > TOLERANCE_MS
    if (isPutOff) return this.#sleep(timer, armed.dueMs, { ms: leftMs, hasWaited: false })
    const wasHeldUp = nowMs - armed.wakesMs > HELD_UP_MS && !armed.hasWaited
    if (wasHeldUp) return this.#sleep(timer, nowMs + CATCH_UP_MS, { ms: CATCH_UP_MS, hasWaited: true })
    this.#armed.set(timer, null)
    this.#listener.fired(timer)
  }
}

import type { Cancel, Clock } from './clock.ts'

type Timer = { dueMs: number; intervalMs: number | null; task: () => void }

/** A frame of audio: what waits for less than two of them is measured exactly. */
const TICK_MS = 20
/** How far ahead it knows which are due. Nearly all timers of a call wait for longer, or are cancelled before. */
const AHEAD_MS = 1_000

/**
 * A clock whose timers share one beat of 20 ms, for a process with thousands of them: none fires early, each up to a beat
 * late. To wake an idle process costs more than most timers have to do, so those that are due at about the same time are
 * done at once; and setting or cancelling one is an entry in a set. Shorter ones are the other clock's.
 */
export class CoarseClock implements Clock {
  readonly #base: Clock
  readonly #timers = new Set<Timer>()
  /** Those of them that are due before `#knownUntilMs`. */
  readonly #soon = new Set<Timer>()
  #knownUntilMs = 0
  readonly #listeners = new Set<(lateMs: number) => void>()
  #stopBeat: Cancel | null = null
  #lastBeatMs = 0

  constructor(base: Clock) {
    this.#base = base
  }

  now(): number {
    return this.#base.now()
  }

  monotonicMs(): number {
    return this.#base.monotonicMs()
  }

  after(delayMs: number, task: () => void): Cancel {
    if (delayMs < 2 * TICK_MS) return this.#base.after(delayMs, task)
    return this.#add({ dueMs: this.monotonicMs() + delayMs, intervalMs: null, task })
  }

  every(intervalMs: number, task: () => void): Cancel {
    if (intervalMs < 2 * TICK_MS) return this.#base.every(intervalMs, task)
    return this.#add({ dueMs: this.monotonicMs() + intervalMs, intervalMs, task })
  }

  /** Tells with each beat how late it came, in ms: how long the process was held up. */
  onBeat(listener: (lateMs: number) => void): Cancel {
    this.#listeners.add(listener)
    this.#start()
    return () => {
      this.#listeners.delete(listener)
      this.#stopIfIdle()
    }
  }

  #add(timer: Timer): Cancel {
    this.#timers.add(timer)
    if (timer.dueMs < this.#knownUntilMs) this.#soon.add(timer)
    this.#start()
    return () => {
      this.#timers.delete(timer)
      this.#soon.delete(timer)
      this.#stopIfIdle()
    }
  }

  #start(): void {
    if (this.#stopBeat) return
    this.#lastBeatMs = this.monotonicMs()
    this.#stopBeat = this.#base.every(TICK_MS, () => this.#beat())
  }

  #stopIfIdle(): void {
    if (this.#timers.size + this.#listeners.size > 0) return
    this.#stopBeat?.()
    this.#stopBeat = null
  }

  #beat(): void {
    const nowMs = this.monotonicMs()
    const lateMs = nowMs - this.#lastBeatMs - TICK_MS
    this.#lastBeatMs = nowMs
    for (const listener of this.#listeners) listener(lateMs)
    this.#fireDue(nowMs)
  }

  /**
   * In the order in which they fall due; what they set themselves has the next beat at the earliest. One that throws does so when
   * the others are done, for they are other calls' timers.
   */
  #fireDue(nowMs: number): void {
    const faults: unknown[] = []
    for (const timer of this.#takeDue(nowMs)) {
      // Another one may have cancelled it.
      if (!this.#timers.has(timer)) continue
      this.#rearm(timer, nowMs)
      try {
        timer.task()
      } catch (fault) {
        faults.push(fault)
      }
    }
    this.#stopIfIdle()
    if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults, 'timers failed')
  }

  #rearm(timer: Timer, nowMs: number): void {
    if (timer.intervalMs === null) {
      this.#timers.delete(timer)
      this.#soon.delete(timer)
      return
    }
    timer.dueMs = Math.max(timer.dueMs + timer.intervalMs, nowMs)
    if (timer.dueMs >= this.#knownUntilMs) this.#soon.delete(timer)
  }

  /** There are thousands of timers: with each beat it looks at those of this second. */
  #takeDue(nowMs: number): Timer[] {
    if (nowMs >= this.#knownUntilMs) this.#lookAhead(nowMs)
    const due: Timer[] = []
    for (const timer of this.#soon) if (timer.dueMs <= nowMs) due.push(timer)
    return due.sort((a, b) => a.dueMs - b.dueMs)
  }

  #lookAhead(nowMs: number): void {
    this.#knownUntilMs = nowMs + AHEAD_MS
    for (const timer of this.#timers) if (timer.dueMs < this.#knownUntilMs) this.#soon.add(timer)
  }
}

import type { Clock } from './clock.ts'

/** Less is what a clock is put right by while it goes. */
const TOLERANCE_MS = 1_000
/** More than anybody sets a clock while something lasts. */
const MAX_KEPT = 100

type Setting = { untilMs: number; forwardMs: number }

/**
 * How long ago an instant was, by a clock that may be set meanwhile: what it was put forward by since then did not pass. Of one that was
 * put back it tells too little, never too much.
 */
export class TrueAge {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>
  #aheadMs: number
  #settings: Setting[] = []

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock
    this.#aheadMs = clock.now() - clock.monotonicMs()
  }

  /** To be asked often: a setting counts for what was before it by when it was noticed. */
  look(): void {
    const nowMs = this.#clock.now()
    const aheadMs = nowMs - this.#clock.monotonicMs()
    const forwardMs = aheadMs - this.#aheadMs
    if (Math.abs(forwardMs) <= TOLERANCE_MS) return
    this.#aheadMs = aheadMs
    // What has begun since, but before this look, is nearer to now than to what the clock showed before.
    if (forwardMs > 0)
      this.#settings = [...this.#settings, { untilMs: nowMs - forwardMs / 2, forwardMs }].slice(-MAX_KEPT)
  }

  /** In ms. */
  of(instantMs: number): number {
    this.look()
    const skipped = this.#settings.filter(({ untilMs }) => instantMs < untilMs)
    return this.#clock.now() - instantMs - skipped.reduce((sum, { forwardMs }) => sum + forwardMs, 0)
  }
}

import type { Clock } from './clock.ts'

/** Less is what a clock is put right by while it goes. */
const TOLERANCE_MS = 1_000
/** More than anybody sets a clock while something lasts. */
const MAX_KEPT = 100

/** What the clock has shown by one setting, as far as that was looked at. */
type Stretch = { fromMs: number; untilMs: number; aheadMs: number }

/**
 * How long ago an instant was, by a clock that may be set meanwhile: what it was put forward by since then did not pass. Of an instant that it
 * has shown more than once, since it was put back, it tells too little, never too much.
 */
export class TrueAge {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** The newest last. */
  #stretches: Stretch[] = []

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock
    this.look()
  }

  /** To be asked often: a setting counts for what was before it by when it was noticed. */
  look(): void {
    this.#present()
  }

  /** In ms. */
  of(instantMs: number): number {
    const present = this.#present()
    // What has begun before a setting was noticed is nearer to what the clock showed by it than to what it showed before.
    let nearest = present
    for (const stretch of this.#stretches.toReversed()) {
      if (msFrom(stretch, instantMs) < msFrom(nearest, instantMs)) nearest = stretch
    }
    return this.#clock.now() - instantMs - (present.aheadMs - nearest.aheadMs)
  }

  #present(): Stretch {
    const nowMs = this.#clock.now()
    const aheadMs = nowMs - this.#clock.monotonicMs()
    const last = this.#stretches.at(-1)
    if (last && Math.abs(aheadMs - last.aheadMs) <= TOLERANCE_MS) {
      last.untilMs = Math.max(last.untilMs, nowMs)
      return last
    }
    const present = { fromMs: nowMs, untilMs: nowMs, aheadMs }
    this.#stretches = [...this.#stretches, present].slice(-MAX_KEPT)
    return present
  }
}

function msFrom({ fromMs, untilMs }: Stretch, instantMs: number): number {
  return Math.max(0, fromMs - instantMs, instantMs - untilMs)
}

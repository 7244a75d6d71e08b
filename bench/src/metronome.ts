import { FRAME_MS } from './audio.ts'

/** Calls beat in this many phases, 1 ms apart. */
export const PHASES = FRAME_MS

/** What happens at a beat of `phase` (0 to 19); `lateMs` is how long after its due time it is called. */
export type OnBeat = (phase: number, lateMs: number) => void

/**
 * Beats once a millisecond on an absolute clock: a late beat is made up for at once and the next one is not moved by it.
 *
 * One timer for all calls. Node's timers count whole milliseconds, so a beat is up to about 1 ms late by nature.
 */
export class Metronome {
  readonly #onBeat: OnBeat
  #timer: NodeJS.Timeout | undefined
  #startMs = 0
  #next = 0

  constructor(onBeat: OnBeat) {
    this.#onBeat = onBeat
  }

  /** Starts beating now. */
  start(): void {
    this.#startMs = performance.now()
    this.#next = 0
    this.#run()
  }

  /** Stops beating; may be repeated. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #run = (): void => {
    // Armed before the beats, so that a beat can stop it.
    this.#timer = setTimeout(this.#run, 1)
    let lateMs = performance.now() - this.#startMs - this.#next
    while (lateMs >= 0 && this.#timer !== undefined) {
      this.#onBeat(this.#next % PHASES, lateMs)
      this.#next += 1
      lateMs = performance.now() - this.#startMs - this.#next
    }
  }
}

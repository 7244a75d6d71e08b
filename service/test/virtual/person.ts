import type { Cancel, Clock } from '../../src/kernel/clock.ts'
import type { Line, LineEnd, LineListener } from '../../src/voice/lines/line.ts'
import { callerFrame, FRAME_MS } from './audio.ts'

/** What somebody says who has taken the call over, from so long after that on. */
export type Saying = { afterMs: number; forMs: number; text: string }

/** Somebody with a line into a call; what they are told of its end is kept. */
export class VirtualListener implements LineListener {
  readonly overs: LineEnd[] = []
  /** Batches that came when the line was over already. */
  lateBatches = 0

  audio(): void {
    if (this.overs.length > 0) this.lateBatches += 1
  }

  over(why: LineEnd): void {
    this.overs.push(why)
  }
}

type Deps = { clock: Clock; line: Line; firstSound: number; sayings: readonly Saying[] }

/** A person who has taken a call over, and speaks in it frame by frame until their line is closed or over. */
export class VirtualPerson {
  readonly #deps: Deps
  readonly #startMs: number
  readonly #stop: Cancel
  #goneAtMs: number | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#startMs = deps.clock.monotonicMs()
    this.#stop = deps.clock.every(FRAME_MS, () => this.#speak())
  }

  /** What of it was said whole, and when it was. */
  get said(): { text: string; endMs: number }[] {
    const atMs = this.#goneAtMs ?? this.#deps.clock.monotonicMs()
    return this.#deps.sayings
      .map(({ afterMs, forMs, text }) => ({ text, endMs: this.#startMs + afterMs + forMs }))
      .filter(({ endMs }) => endMs < atMs)
  }

  leave(how: 'released' | 'lost'): void {
    this.gone()
    this.#deps.line.close(how)
  }

  /** Nothing more is said. */
  gone(): void {
    if (this.isGone) return
    this.#goneAtMs = this.#deps.clock.monotonicMs()
    this.#stop()
  }

  get isGone(): boolean {
    return this.#goneAtMs !== null
  }

  #speak(): void {
    const { clock, line, firstSound, sayings } = this.#deps
    const atMs = clock.monotonicMs() - this.#startMs
    const index = sayings.findIndex(({ afterMs, forMs }) => afterMs <= atMs && atMs < afterMs + forMs)
    line.speak(callerFrame(index === -1 ? null : firstSound + index))
  }
}

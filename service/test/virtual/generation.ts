import type { Cancel, Clock } from '../../src/kernel/clock.ts'

/** A piece of an answer on its way out: `run` after `afterMs` more. */
export type Piece = { afterMs: number; run: () => void }

/** Says an answer piece by piece; stopping it leaves out the rest. */
export class Generation {
  readonly #clock: Clock
  readonly #pieces: Piece[]
  #cancel: Cancel = () => {}

  constructor(clock: Clock, pieces: readonly Piece[]) {
    this.#clock = clock
    this.#pieces = [...pieces]
    this.#next()
  }

  stop(): void {
    this.#cancel()
    this.#pieces.length = 0
  }

  #next(): void {
    const piece = this.#pieces.shift()
    if (!piece) return
    this.#cancel = this.#clock.after(piece.afterMs, () => {
      piece.run()
      this.#next()
    })
  }
}

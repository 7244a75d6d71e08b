import { AppError } from '../../kernel/errors.ts'

/**
 * Says what fails of something that is done again and again: that the database is away only once, until it was done in between, and
 * anything else each time.
 */
export class SaidOnce {
  #isAway = false

  failed(err: unknown, say: () => void): void {
    const isAway = err instanceof AppError && err.code === 'unavailable'
    const isKnown = isAway && this.#isAway
    this.#isAway = isAway
    if (!isKnown) say()
  }

  done(): void {
    this.#isAway = false
  }
}

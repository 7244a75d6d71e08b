/** How a numbered series arrived. `reordered` pieces came late, but came. */
export type Arrivals = { lost: number; doubled: number; reordered: number }

/**
 * Follows one direction of one call: which numbers came, came twice, came late, or never came.
 *
 * Numbers count from 0. Keeps the numbers that are missing so far, and nothing else.
 */
export class SequenceCheck {
  #next = 0
  #missing = new Set<number>()
  #doubled = 0
  #reordered = 0

  /** How many different numbers have come. */
  get received(): number {
    return this.#next - this.#missing.size
  }

  /** Notes that `sequence` came. False when it had come before. */
  accept(sequence: number): boolean {
    if (sequence === this.#next) {
      this.#next += 1
      return true
    }
    if (sequence > this.#next) {
      for (let skipped = this.#next; skipped < sequence; skipped++) this.#missing.add(skipped)
      this.#next = sequence + 1
      return true
    }
    if (this.#missing.delete(sequence)) {
      this.#reordered += 1
      return true
    }
    this.#doubled += 1
    return false
  }

  /** The balance, once the sender has said that it sent `sent` pieces and all of them had time to come. */
  balance(sent: number): Arrivals {
    return { lost: sent - this.received, doubled: this.#doubled, reordered: this.#reordered }
  }
}

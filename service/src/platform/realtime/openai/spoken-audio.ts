const BYTES_PER_SECOND = 8_000
/** One answer is active at a time; of one whose end never came nothing need be known for long. */
const MAX_ANSWERS = 16

/** Counts the µ-law audio of each answer until it is over. */
export class SpokenAudio {
  readonly #bytes = new Map<string, number>()

  add(responseId: string, bytes: number): void {
    this.#bytes.set(responseId, (this.#bytes.get(responseId) ?? 0) + bytes)
    if (this.#bytes.size <= MAX_ANSWERS) return
    for (const oldest of this.#bytes.keys()) {
      this.#bytes.delete(oldest)
      return
    }
  }

  /** The seconds of an answer that is over; it is forgotten. */
  takeSeconds(responseId: string): number {
    const bytes = this.#bytes.get(responseId) ?? 0
    this.#bytes.delete(responseId)
    return bytes / BYTES_PER_SECOND
  }
}

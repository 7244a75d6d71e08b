/** So many are worked on at once. */
const MAX_RUNNING = 8
/** So many wait for their turn, some hundred versions' first words; what is beyond is asked for again by the call that misses it. */
const MAX_WAITING = 1_000

/** Work that never rejects, each by a name: a few at once, the others in the order in which they came. */
export class ClipQueue {
  readonly #running = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, () => Promise<void>>()
  #isClosed = false

  /** Has it done now or later, unless it is in the queue already, or too much is. */
  add(name: string, work: () => Promise<void>): void {
    const isKnown = this.#running.has(name) || this.#waiting.has(name)
    if (this.#isClosed || isKnown || this.#waiting.size >= MAX_WAITING) return
    this.#waiting.set(name, work)
    this.#goOn()
  }

  /** Begins nothing any more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.clear()
    await Promise.all(this.#running.values())
  }

  #goOn(): void {
    for (const [name, work] of this.#waiting) {
      if (this.#running.size >= MAX_RUNNING) return
      this.#waiting.delete(name)
      this.#running.set(name, this.#run(name, work))
    }
  }

  async #run(name: string, work: () => Promise<void>): Promise<void> {
    await work()
    this.#running.delete(name)
    this.#goOn()
  }
}

import type { Log } from '../../log.ts'

const MAX_TYPES = 8
const MAX_TYPE_CHARS = 64
const MESSAGE = 'a model session had messages without use'

/** Counts what a session could make nothing of, and tells it in one line at its end. */
export class Oddities {
  readonly #types = new Set<string>()
  #unknown = 0
  #malformed = 0
  #dropped = 0

  /** An event of a type that nobody here knows: newer servers send some. */
  countUnknown(type: string): void {
    this.#unknown += 1
    if (this.#types.size < MAX_TYPES) this.#types.add(type.slice(0, MAX_TYPE_CHARS))
  }

  /** A frame that is no event, or one that lacks what its type promises. */
  countMalformed(): void {
    this.#malformed += 1
  }

  /** A command that came when too many waited already. */
  countDropped(): void {
    this.#dropped += 1
  }

  /** Writes nothing when there is nothing to tell. Unknown types alone are no reason to warn. */
  logTo(log: Log | null): void {
    const counts = { unknown: this.#unknown, malformed: this.#malformed, dropped: this.#dropped }
    const fields = { ...counts, unknownTypes: [...this.#types] }
    if (this.#malformed + this.#dropped > 0) log?.warn(fields, MESSAGE)
    else if (this.#unknown > 0) log?.info(fields, MESSAGE)
  }
}

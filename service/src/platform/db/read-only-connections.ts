import { systemClock } from '../../kernel/clock.ts'
import { isReadOnlyRefusal } from './errors.ts'

/** While a server takes no change, who reads needs no new connection for each change that it refuses. */
const SEEN_AT_MOST_EACH_MS = 1_000

/**
 * Which connections may be of a server, or of a time, in which nothing could be written. They stay so when the address leads to another
 * server by now, or when its database takes changes again: whether it does is a setting that each has from its beginning.
 */
export class ReadOnlyConnections<Client extends object> {
  readonly #firstSeenMs = new WeakMap<Client, number>()
  #refusedMs = Number.NEGATIVE_INFINITY

  /** To be told of whatever the database answers with an error. */
  saw(error: unknown): void {
    const nowMs = systemClock.monotonicMs()
    if (isReadOnlyRefusal(error) && nowMs - this.#refusedMs > SEEN_AT_MOST_EACH_MS) this.#refusedMs = nowMs
  }

  /** Whether a change was refused since the connection was asked for first: a new one may take it. */
  mayInclude(client: Client): boolean {
    const seenMs = this.#firstSeenMs.get(client)
    if (seenMs === undefined) this.#firstSeenMs.set(client, systemClock.monotonicMs())
    return seenMs !== undefined && seenMs <= this.#refusedMs
  }
}

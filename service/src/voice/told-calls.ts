import type { Clock } from '../kernel/clock.ts'
import type { LiveEvents } from './live-events.ts'

type Told = { events: LiveEvents; untilMs: number }

/** As long as a watcher may take to come back. */
const KEEP_MS = 60_000
/** Each holds 96 Ki characters at most. */
const MAX_STREAMS = 100

/**
 * What was told of calls that ended just now, by the names of their streams, for watchers who were cut off before they had all of it. It
 * is kept for a minute, of the 100 newest; no timer runs for it.
 */
export class ToldCalls {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** Those that ended first come first. */
  readonly #byStream = new Map<string, Told>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Nothing more is told of the call that had these streams. */
  keep(streams: readonly string[], events: LiveEvents): void {
    const untilMs = this.#clock.monotonicMs() + KEEP_MS
    for (const stream of streams) {
      this.#byStream.delete(stream)
      this.#byStream.set(stream, { events, untilMs })
    }
    this.#drop()
  }

  /** The call goes on elsewhere. */
  forget(events: LiveEvents): void {
    for (const [stream, told] of this.#byStream) if (told.events === events) this.#byStream.delete(stream)
  }

  /** For who has the event `afterId`, and not all of them; null for anybody else, and when it is too late. */
  rest(stream: string, afterId: number): LiveEvents | null {
    this.#drop()
    const events = this.#byStream.get(stream)?.events ?? null
    return events !== null && afterId > 0 && afterId < events.lastId ? events : null
  }

  #drop(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [stream, { untilMs }] of this.#byStream) {
      if (untilMs > nowMs && this.#byStream.size <= MAX_STREAMS) return
      this.#byStream.delete(stream)
    }
  }
}

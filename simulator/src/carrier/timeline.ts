import type { CallStatus } from './call-record.ts'
import type { Clock } from './clock.ts'
import type { Clear, StreamEnd } from './media-stream.ts'
import type { Notification, Verb } from './verbs.ts'

/** Something that happened in a call. `key`: the party pressed one; `heard-key`: the party heard one's tones. */
export type CallHappening =
  | { kind: 'status'; status: CallStatus }
  | { kind: 'verb'; verb: Verb['verb'] }
  | { kind: 'stream-started'; streamSid: string; url: string }
  | { kind: 'stream-ended'; streamSid: string; end: StreamEnd }
  | { kind: 'caller-began'; text: string | null }
  | { kind: 'caller-ended' }
  | { kind: 'agent-began' }
  | { kind: 'agent-ended' }
  | { kind: 'key'; key: string }
  | { kind: 'heard-key'; key: string }
  | ({ kind: 'clear' } & Clear)
  | ({ kind: 'notification' } & Notification)
  | { kind: 'hang-up'; by: EndedBy }

/** Who brought a call to its end. `gave-up`: the caller, after waiting for the agent in vain. */
export type EndedBy =
  | 'caller'
  | 'gave-up'
  | 'document'
  | 'rest'
  | 'time-limit'
  | 'other-party'
  | 'not-answered'
  | 'carrier'

/** A happening and when it was, in milliseconds since the call began to exist. */
export type CallEvent = CallHappening & { atMs: number }

// A call of an hour has a few thousand; beyond this the oldest are dropped.
const MOST_EVENTS = 20_000

/** What happened in a call, in order, for those who look back and for those who wait. */
export class Timeline {
  #clock: Clock
  #startedMs: number
  #events: CallEvent[] = []
  #watchers = new Set<(event: CallEvent) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.nowMs()
  }

  get events(): readonly CallEvent[] {
    return this.#events
  }

  /** Milliseconds since the call began to exist. */
  nowMs(): number {
    return this.#clock.nowMs() - this.#startedMs
  }

  /** Writes down what happens now and tells the watchers. */
  add(happening: CallHappening): void {
    const event = { ...happening, atMs: Math.round(this.nowMs()) }
    this.#events.push(event)
    if (this.#events.length > MOST_EVENTS) this.#events.shift()
    for (const watcher of this.#watchers) watcher(event)
  }

  /** Calls the watcher for each event from now on; the function that it returns ends that. */
  watch(watcher: (event: CallEvent) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The first event, past or to come, that fits; null when none came within the time or before the signal. */
  until(
    fits: (event: CallEvent) => boolean,
    { withinMs, signal }: { withinMs: number; signal?: AbortSignal },
  ): Promise<CallEvent | null> {
    const past = this.#events.find(fits)
    if (past || signal?.aborted) return Promise.resolve(past ?? null)
    return new Promise((resolve) => {
      const settle = (event: CallEvent | null) => {
        cancel()
        unwatch()
        signal?.removeEventListener('abort', stop)
        resolve(event)
      }
      const stop = () => settle(null)
      const cancel = this.#clock.after(withinMs, stop)
      const unwatch = this.watch((event) => {
        if (fits(event)) settle(event)
      })
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
}

import type { Methods } from './answers.ts'
import { pause, upToTwice, within } from './pause.ts'
import { askedMs, ParleyError } from './refusal.ts'

/** The streams of each live call of the tenant, or why nobody said. */
type Look = { streams: ReadonlyMap<string, string[]>; error: null } | { streams: null; error: unknown }

/** From one look to the next; after looks in vain twice as long each time. */
const INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 4_000
/** A look that nobody answers holds up those who wait for it no longer. */
export const ANSWERED_WITHIN_MS = 5_000

/**
 * Where the tenant's live calls are, for all who look for one: all that were at a node are lost at once. However many look, one
 * question is under way, or the pause before it.
 */
export class LiveStreams {
  readonly #parley: Methods
  #seekers = 0
  #leaving = new AbortController()
  #next: Promise<Look> | null = null
  #nextAtMs = 0
  #inVain = 0

  constructor(parley: Methods) {
    this.#parley = parley
  }

  /** Somebody looks for a call until they call what this returns. Once nobody does, nothing is asked. */
  enter(): () => void {
    if (this.#seekers++ === 0) this.#leaving = new AbortController()
    return () => {
      if (--this.#seekers > 0) return
      this.#leaving.abort()
      this.#next = null
    }
  }

  /** What the next answer says. Never rejects. */
  next(): Promise<Look> {
    this.#next ??= this.#lookOnce(this.#leaving.signal)
    return this.#next
  }

  async #lookOnce(signal: AbortSignal): Promise<Look> {
    const waitMs = this.#nextAtMs - performance.now()
    if (waitMs > 0) await pause(waitMs, signal)
    const found = await within(ANSWERED_WITHIN_MS, signal, (ending) => lookFor(this.#parley, ending))
    if (signal.aborted) return found
    this.#next = null
    this.#inVain = found.error === null ? 0 : this.#inVain + 1
    const intervalMs = upToTwice(Math.min(INTERVAL_MS * 2 ** this.#inVain, MAX_INTERVAL_MS))
    this.#nextAtMs = performance.now() + Math.max(intervalMs, askedMs(found.error))
    return found
  }
}

async function lookFor(parley: Methods, signal: AbortSignal): Promise<Look> {
  try {
    const { data, error, response } = await parley.GET('/api/v1/sessions/active', { signal })
    if (error) throw new ParleyError(error, response)
    // More than one of a call: a node that does not know yet that it has lost it lists it, too.
    const streams = new Map<string, string[]>()
    for (const { call_sid, stream_sid } of data.sessions)
      streams.set(call_sid, [...(streams.get(call_sid) ?? []), stream_sid])
    return { streams, error: null }
  } catch (error) {
    return { streams: null, error }
  }
}

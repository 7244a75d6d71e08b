/** Something that those who watch a call are told; `data` is in the API's own words. */
export type LiveEvent = { id: number; event: LiveEventName; data: Record<string, unknown> }

export type LiveEventName = 'state' | 'turn' | 'turn_delta' | 'tool' | 'latency' | 'ended'

type Watcher = (event: LiveEvent) => void

/** The last minutes of a call: whoever lost the connection for longer begins anew from the oldest that is kept. */
const MAX_KEPT = 256

/**
 * What happens in a call, for those who watch it. The last 256 events are kept, so that a watcher can go on where it was
 * cut off.
 */
export class LiveEvents {
  readonly #watchers = new Set<Watcher>()
  #kept: LiveEvent[] = []
  #count = 0

  publish(event: LiveEventName, data: Record<string, unknown>): void {
    this.#count += 1
    const told = { id: this.#count, event, data }
    this.#kept.push(told)
    // In halves: to drop one for each that comes would move all of them each time.
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT)
    for (const watcher of this.#watchers) watcher(told)
  }

  /**
   * Tells `watcher` what is kept since the event `afterId` (0: all of it), then what happens from now on, until the function
   * that this returns is called.
   */
  watch(afterId: number, watcher: Watcher): () => void {
    for (const event of this.#kept.slice(-MAX_KEPT)) if (event.id > afterId) watcher(event)
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }
}

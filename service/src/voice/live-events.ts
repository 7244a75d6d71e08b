/** Something that those who watch a call are told; `data` is in the API's own words. */
export type LiveEvent = { id: number; event: LiveEventName; data: Record<string, unknown> }

export type LiveEventName = 'state' | 'turn' | 'turn_delta' | 'tool' | 'latency' | 'moved' | 'ended'

/** What was said last, or its beginning. */
export type LastWords = { role: 'caller' | 'agent'; text: string }

type Watcher = (event: LiveEvent) => void

/** The events of a call, wherever it is. `broken` is called when no more of them can be had, and those told are not all. */
export type WatchedEvents = { watch(afterId: number, watcher: Watcher, broken: () => void): () => void }

/** The last minutes of a call: whoever lost the connection for longer begins anew from the oldest that is kept. */
const MAX_KEPT = 256
/** A watcher who comes is sent all of it at once; and each live call keeps so much. */
const MAX_KEPT_CHARS = 48 * 1024
/** As much of what was said last as a list shows. */
const MAX_LAST_WORDS = 200
/** What an event is beside its texts. */
const BASE_CHARS = 96

/**
 * What happens in a call, for those who watch it. The last 256 events are kept, as far as they are not more than 48 Ki
 * characters, so that a watcher can go on where it was cut off; of a turn that is finished only the turn itself, which holds
 * all that led to it.
 */
export class LiveEvents {
  readonly #watchers = new Set<Watcher>()
  #kept: LiveEvent[] = []
  #keptChars = 0
  #count = 0
  #lastWords: LastWords | null = null
  #lastResponseMs: number | null = null

  publish(event: LiveEventName, data: Record<string, unknown>): void {
    this.#count += 1
    const told = { id: this.#count, event, data }
    this.#remember(told)
    if (event === 'turn') this.#dropPartsOf(data)
    this.#kept.push(told)
    this.#keptChars += charsOf(told)
    // In halves: to drop one for each that comes would move all of them each time.
    if (this.#kept.length >= 2 * MAX_KEPT || this.#keptChars >= 2 * MAX_KEPT_CHARS) this.#keep(newest(this.#kept))
    for (const watcher of this.#watchers) watcher(told)
  }

  /** The last thing that was said and is finished; null before there is one. */
  get lastWords(): LastWords | null {
    return this.#lastWords
  }

  /** How long the caller waited for the last answer; null before there was one. */
  get lastResponseMs(): number | null {
    return this.#lastResponseMs
  }

  /** The id of the newest event; 0 before there is one. */
  get lastId(): number {
    return this.#count
  }

  /**
   * Tells `watcher` what is kept since the event `afterId` (0: all of it), then what happens from now on, until the function
   * that this returns is called.
   */
  watch(afterId: number, watcher: Watcher): () => void {
    for (const event of newest(this.#kept)) if (event.id > afterId) watcher(event)
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** What whoever looks at many calls is shown of each. */
  #remember({ event, data }: LiveEvent): void {
    const { role, text, response_ms: responseMs } = data
    const isWords = event === 'turn' && typeof text === 'string' && text !== ''
    if (isWords && (role === 'caller' || role === 'agent'))
      this.#lastWords = { role, text: text.slice(0, MAX_LAST_WORDS).toWellFormed() }
    if (event === 'latency' && typeof responseMs === 'number') this.#lastResponseMs = responseMs
  }

  /** Only what goes is weighed: an item that takes its place late has a hundred turns behind it told again. */
  #dropPartsOf(turn: Record<string, unknown>): void {
    this.#kept = this.#kept.filter((kept) => {
      if (!isPartOf(turn, kept)) return true
      this.#keptChars -= charsOf(kept)
      return false
    })
  }

  #keep(events: LiveEvent[]): void {
    this.#kept = events
    this.#keptChars = events.reduce((chars, event) => chars + charsOf(event), 0)
  }
}

/** Whether nothing comes after it: the call is over, or others have it. */
export function isLast({ event }: LiveEvent): boolean {
  return event === 'ended' || event === 'moved'
}

/** As many of the newest as are kept: the last one always, however long it is. */
function newest(events: LiveEvent[]): LiveEvent[] {
  let from = events.length
  let chars = 0
  while (from > 0 && events.length - from < MAX_KEPT) {
    chars += charsOf(events[from - 1] as LiveEvent)
    if (chars > MAX_KEPT_CHARS && from < events.length) break
    from -= 1
  }
  return events.slice(from)
}

function charsOf({ data }: LiveEvent): number {
  let chars = BASE_CHARS
  for (const name in data) {
    const value = data[name]
    if (typeof value === 'string') chars += value.length
  }
  return chars
}

/** Whether an event told of a turn before it was finished, or before it was finished otherwise. */
function isPartOf(turn: Record<string, unknown>, { event, data }: LiveEvent): boolean {
  return (event === 'turn_delta' || event === 'turn') && data['item_id'] === turn['item_id']
}

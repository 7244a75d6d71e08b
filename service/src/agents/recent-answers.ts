import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'

/** `asOfMs`: when the question was asked that `answer` is the answer to; earlier than `askedAtMs` while the last one is not answered. */
type Entry<Value> = { askedAtMs: number; asOfMs: number; answer: Promise<Value | null> }
type Question<Value> = { key: string; known: Entry<Value>; askedAtMs: number }
type Options = {
  clock: Clock
  /** Told when what is asked fails otherwise than by a database that is away, while an older answer is given: once for a key, until it works again. */
  onFault(key: string, err: unknown): void
  maxEntries?: number
}

const MAX_ENTRIES = 1_000

/** So a change that another node makes is seen here within a second. */
const FRESH_MS = 1_000

/** A caller is waiting: better the answer of a moment ago than a database that answers late. */
const CHECK_TIMEOUT_MS = 500

/**
 * What the database said lately, so that calls which come in a row do not each ask it.
 *
 * Parallel questions share one query. At 1,000 answers the one that was asked for longest ago goes. While the database does
 * not answer, or fails in any other way, what is known is given as it is; such another way is told of, because it may last. That there is nothing (null) is not remembered, so that it is found as soon
 * as there is.
 */
export class RecentAnswers<Value> {
  readonly #clock: Clock
  readonly #maxEntries: number
  readonly #onFault: Options['onFault']
  /** Longest ago first. */
  readonly #entries = new Map<string, Entry<Value>>()

  /** First questions that are on their way. They take nobody's place among what is known: anybody can ask for what there is not. */
  readonly #asking = new Map<string, { askedAtMs: number; answer: Promise<Value | null> }>()

  /** Of `#entries`, those of which a fault was told. */
  readonly #faulty = new Set<string>()

  constructor({ clock, onFault, maxEntries = MAX_ENTRIES }: Options) {
    this.#clock = clock
    this.#onFault = onFault
    this.#maxEntries = maxEntries
  }

  /** The answer to `key`, at most a second old while the database answers. @throws what `load` throws for a new key. */
  get(key: string, load: () => Promise<Value | null>): Promise<Value | null> {
    const known = this.#entries.get(key)
    const askedAtMs = this.#clock.monotonicMs()
    if (!known) return this.#askFirst(key, askedAtMs, load)
    if (askedAtMs - known.askedAtMs < FRESH_MS) return known.answer
    const answer = this.#askAgain({ key, known, askedAtMs }, load)
    this.#keep(key, { askedAtMs, asOfMs: known.asOfMs, answer })
    const forget = () => {
      if (this.#entries.get(key)?.answer === answer) this.#forget(key)
    }
    answer.then((value) => value ?? forget(), forget)
    return answer
  }

  /** Notes an answer that came with another one: as if `key` had been asked for now. */
  put(key: string, value: Value): void {
    const askedAtMs = this.#clock.monotonicMs()
    this.#keep(key, { askedAtMs, asOfMs: askedAtMs, answer: Promise.resolve(value) })
  }

  /** One that hangs, as by a connection that is dead, holds up nobody who asks a second later. */
  #askFirst(key: string, askedAtMs: number, load: () => Promise<Value | null>): Promise<Value | null> {
    const asking = this.#asking.get(key)
    if (asking && askedAtMs - asking.askedAtMs < FRESH_MS) return asking.answer
    const answer = load()
    this.#asking.set(key, { askedAtMs, answer })
    const asked = (value: Value | null) => {
      // What was asked anew meanwhile is answered anew, also where there is nothing by then.
      if (this.#asking.get(key)?.answer !== answer) return
      this.#asking.delete(key)
      const known = this.#entries.get(key)
      if (value !== null && (!known || known.asOfMs < askedAtMs))
        this.#keep(key, { askedAtMs, asOfMs: askedAtMs, answer })
    }
    answer.then(asked, () => asked(null))
    return answer
  }

  #keep(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#makeRoom()
  }

  async #askAgain(
    { key, known, askedAtMs }: Question<Value>,
    load: () => Promise<Value | null>,
  ): Promise<Value | null> {
    const loaded = load()
    loaded.then(
      (value) => this.#learn(key, askedAtMs, value),
      (err) => this.#failed(key, err),
    )
    try {
      return await withTimeout(this.#clock, loaded, CHECK_TIMEOUT_MS, tooLate)
    } catch {
      // Whatever is wrong there: without what is known the caller would not even be put through to the fallback number.
      return known.answer
    }
  }

  /** However late the database has answered: that is newer than what is known of an earlier question. */
  #learn(key: string, askedAtMs: number, value: Value | null): void {
    this.#faulty.delete(key)
    const entry = this.#entries.get(key)
    if (!entry || entry.asOfMs >= askedAtMs) return
    if (value === null) this.#forget(key)
    else Object.assign(entry, { asOfMs: askedAtMs, answer: Promise.resolve(value) })
  }

  #failed(key: string, err: unknown): void {
    const isAway = err instanceof AppError && err.code === 'unavailable'
    if (isAway || this.#faulty.has(key) || !this.#entries.has(key)) return
    this.#faulty.add(key)
    this.#onFault(key, err)
  }

  #forget(key: string): void {
    this.#entries.delete(key)
    this.#faulty.delete(key)
  }

  #makeRoom(): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#forget(oldest)
  }
}

function tooLate(): AppError {
  return new AppError('unavailable', 'The database is not reachable. Try again.')
}

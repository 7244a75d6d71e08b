import { type Cancel, type Clock, waitAtMost } from '../kernel/clock.ts'
import { onCommit } from './db/commits.ts'
import { isOfStatementAlone, isUnavailable } from './db/errors.ts'
import type { Db } from './db/schema.ts'
import type { Log } from './log.ts'

/**
 * Rows that are worked on beside the calls, each once, however many processes do the same: one is claimed with a lease and a token,
 * comes again when its process was lost, and is settled only by who holds the token. What a row is, and what is done with it, says
 * whoever has the rows. Those that other processes have made, and those whose lease or time is over, are found within five seconds.
 */
export type LeasedRows<Claimed extends object> = {
  /** What is noted with a commit that has made a row: then it is looked for at once, in this process. */
  topic: string
  /** Ends what was claimed before the start: for a process that is alone on its database. */
  endLeases(db: Db): Promise<void>
  /** Done at the start and every five seconds, before rows are looked for; `stopping` ends it early. */
  regularly?(stopping: AbortSignal): Promise<void>
  /** Whether one more may be begun beside those that are under way in this process. */
  hasRoom(running: number): boolean
  /** Claims one that is due. Where none may be begun now: whether some may wait until another one is done. */
  claim(): Promise<Claimed | 'some wait' | 'none waits'>
  /** Does what is to be done with it, and settles it; `stopping` ends it early. */
  work(claimed: Claimed, stopping: AbortSignal): Promise<void>
  /** Gives back, or settles, one whose work threw this. Never rejects: what cannot be given back comes when its lease is over. */
  failed(claimed: Claimed, err: unknown, isStopping: boolean): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  /** No other process is on the database: what was claimed before the start is nobody's. */
  isAlone: boolean
}

/** Due rows are looked for this often; what a commit of this process has noted is begun at once. */
const LOOK_EVERY_MS = 5_000
const CLOSE_WITHIN_MS = 1_500

/** Looks for rows, and has as many of them worked on at a time as there is room for. */
export class LeasedWorker<Claimed extends object> {
  readonly #deps: Deps
  readonly #rows: LeasedRows<Claimed>
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #cancels: Cancel[] = []
  #looking: Promise<void> | null = null
  /** A look fell due while another one took its time. */
  #isDue = false
  /** The next look is one of those of every five seconds. */
  #isRegular = true
  /** More rows may wait than are under way. */
  #mayWait = true
  #isClosing = false
  #isFailing = false

  constructor(deps: Deps, rows: LeasedRows<Claimed>) {
    this.#deps = deps
    this.#rows = rows
  }

  /** Resolves when it is under way. @throws the database's error. */
  async start(): Promise<void> {
    const { db, clock, isAlone } = this.#deps
    if (isAlone) await this.#rows.endLeases(db)
    if (this.#isClosing) return
    const look = () => this.look()
    const lookRegularly = () => {
      this.#isRegular = true
      look()
    }
    this.#cancels = [clock.every(LOOK_EVERY_MS, lookRegularly), onCommit(db, this.#rows.topic, look)]
    look()
  }

  /** Begins nothing more; what is under way goes on. */
  stop(): void {
    this.#isClosing = true
    for (const cancel of this.#cancels) cancel()
  }

  /** Begins nothing more, and gives back what is under way. Never rejects. Again, it waits for the same end. */
  async close(): Promise<void> {
    this.stop()
    this.#stopping.abort()
    const settled = async () => {
      await this.#looking
      await Promise.all(this.#running)
    }
    await waitAtMost(this.#deps.clock, settled(), CLOSE_WITHIN_MS)
  }

  /** Looks for rows now: there is room again. */
  look(): void {
    if (this.#isClosing) return
    this.#isDue = this.#looking !== null
    if (this.#looking) return
    this.#looking = this.#claim()
      .then(
        () => this.#looked(null),
        (err: unknown) => this.#looked(err),
      )
      .finally(() => {
        this.#looking = null
        if (this.#isDue) this.look()
      })
  }

  async #claim(): Promise<void> {
    const rows = this.#rows
    this.#mayWait = true
    if (this.#isRegular) await this.#doRegularly()
    while (rows.hasRoom(this.#running.size) && !this.#isClosing) {
      const claimed = await rows.claim()
      if (typeof claimed === 'string') {
        this.#mayWait = claimed === 'some wait'
        return
      }
      this.#run(claimed)
    }
  }

  /** It is looked again in any case. That the database is away others say; whatever else it is, is said once, and once that it is over. */
  #looked(err: unknown): void {
    if (isUnavailable(err) && !isOfStatementAlone(err)) return
    const { log } = this.#deps
    const { topic } = this.#rows
    if (err !== null && !this.#isFailing) log.warn({ err, topic }, 'what waits beside the calls is not begun')
    if (err === null && this.#isFailing) log.info({ topic }, 'what waits beside the calls is begun again')
    this.#isFailing = err !== null
  }

  /** What fails is done with the next look. */
  async #doRegularly(): Promise<void> {
    this.#isRegular = false
    try {
      await this.#rows.regularly?.(this.#stopping.signal)
    } catch (error) {
      this.#isRegular = true
      throw error
    }
  }

  #run(claimed: Claimed): void {
    const { signal } = this.#stopping
    const done = this.#rows
      .work(claimed, signal)
      .catch((err: unknown) => this.#rows.failed(claimed, err, signal.aborted))
      .finally(() => {
        this.#running.delete(done)
        if (this.#mayWait) this.look()
      })
    this.#running.add(done)
  }
}

import { type Clock, systemClock } from '../../kernel/clock.ts'
import { PgliteClient } from './pglite-client.ts'

type ThreadsOptions = Omit<Parameters<typeof PgliteClient.start>[0], 'onError'> & {
  /** Told each time when the thread ends by itself, and when none can be started in its place. */
  onError: (error: Error) => void
  /** Told when another thread answers. */
  onBack: () => void
  clock?: Clock
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * PostgreSQL in a thread, and in another one when that ends by itself: what was committed is in the folder. Without a folder all is
 * gone with the thread, so no other is started.
 */
export class PgliteThreads {
  readonly #options: ThreadsOptions
  readonly #clock: Clock
  #current: PgliteClient | null = null
  #reopening: Promise<void> | null = null
  #isClosed = false
  #stopPause: () => void = () => {}

  private constructor(options: ThreadsOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** @throws AppError `unavailable` when the folder cannot be used. */
  static async start(options: ThreadsOptions): Promise<PgliteThreads> {
    const threads = new PgliteThreads(options)
    threads.#current = await threads.#open()
    return threads
  }

  /** Who is asked now. Whoever began a transaction ends it with the same one. */
  get current(): PgliteClient {
    if (this.#current === null) throw new Error('the database was not started')
    return this.#current
  }

  /** Closes PostgreSQL and gives the folder back. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopPause()
    await this.#reopening
    await this.current.close()
  }

  #open(): Promise<PgliteClient> {
    return PgliteClient.start({ ...this.#options, onError: (error) => this.#lost(error) })
  }

  #lost(error: Error): void {
    this.#options.onError(error)
    if (this.#options.folder === null || this.#isClosed) return
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null
    })
  }

  async #reopen(): Promise<void> {
    await this.current.exited
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isClosed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        this.#current = await this.#open()
        return this.#options.onBack()
      } catch (error) {
        this.#options.onError(error as Error)
        await this.#pause(pauseMs)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#stopPause = () => {
        cancel()
        resolve()
      }
    })
  }
}

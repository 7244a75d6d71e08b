import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { type Cancel, type Clock, systemClock, withTimeout } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { unreachable } from './errors.ts'
import { ERROR_FIELDS, type RawError, type RawResult, type Response, type WorkerStart } from './pglite-protocol.ts'

type ClientOptions = WorkerStart & {
  statementTimeoutMs: number
  /** Told once when the thread ends otherwise than by `close`. */
  onError: (error: Error) => void
  clock?: Clock
}

type Pending = { resolve: (result: RawResult) => void; reject: (error: Error) => void }

const WORKER_FILE = new URL('./pglite-worker.ts', import.meta.url)
const CLOSE_TIMEOUT_MS = 5_000

/**
 * The main thread's end of PostgreSQL in a worker thread.
 *
 * When the thread ends, everything asked and everything asked later is AppError `unavailable`. A statement that runs too
 * long ends the thread, because nothing else would stop it; what was committed is there for the next one.
 */
export class PgliteClient {
  readonly #worker: Worker
  readonly #options: ClientOptions
  readonly #clock: Clock
  /** Resolves when the thread has ended, however. */
  readonly exited: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #nextId = 1
  #isLimited = true
  /** Why nothing can be asked any more. */
  #lost: Error | null = null

  private constructor(worker: Worker, options: ClientOptions) {
    this.#worker = worker
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    worker.on('message', (response: Response) => this.#settle(response))
    worker.on('error', (error: Error) => this.#lose(error))
    worker.on('exit', () => this.#lose(new Error('the thread of the database has ended')))
  }

  /**
   * Starts the thread and waits until PostgreSQL answers: some 300 ms, or 2 to 4 s for a new folder.
   *
   * @throws AppError `unavailable` when the folder cannot be used.
   */
  static async start(options: ClientOptions): Promise<PgliteClient> {
    const worker = new Worker(WORKER_FILE, {
      name: 'database',
      workerData: { folder: options.folder, pid: options.pid } satisfies WorkerStart,
      // `node:sqlite` still announces itself as experimental. Nothing is inherited from how the process was started.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
    })
    await ready(worker)
    return new PgliteClient(worker, options)
  }

  /** Runs a statement with parameters in PostgreSQL's text form, or several statements without any. */
  query(sql: string, parameters: (string | null)[] | null): Promise<RawResult> {
    if (this.#lost) return Promise.reject(unreachable(this.#lost))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const cancelLimit = this.#limit()
      this.#pending.set(id, {
        resolve: (result) => {
          cancelLimit()
          resolve(result)
        },
        reject: (error) => {
          cancelLimit()
          reject(error)
        },
      })
      this.#worker.postMessage({ id, sql, parameters })
    })
  }

  /** What is asked until this is done may take as long as it needs. */
  async withoutLimit<T>(work: () => Promise<T>): Promise<T> {
    this.#isLimited = false
    try {
      return await work()
    } finally {
      this.#isLimited = true
    }
  }

  /** Closes PostgreSQL and gives the folder back. Nothing may be asked after it. */
  async close(): Promise<void> {
    this.#lost ??= new Error('the database was closed')
    this.#worker.postMessage('close')
    const stuck = () => new Error('the thread of the database does not end')
    await withTimeout(this.#clock, this.exited, CLOSE_TIMEOUT_MS, stuck).catch(() => this.#worker.terminate())
  }

  #settle(response: Response): void {
    if (response.type !== 'result' && response.type !== 'error') return
    const pending = this.#pending.get(response.id)
    this.#pending.delete(response.id)
    if (response.type === 'result') pending?.resolve(response.result)
    else pending?.reject(toDatabaseError(response.error))
  }

  #limit(): Cancel {
    if (!this.#isLimited) return () => undefined
    return this.#clock.after(this.#options.statementTimeoutMs, () => this.#giveUp())
  }

  #giveUp(): void {
    this.#lose(new Error(`a statement ran longer than ${this.#options.statementTimeoutMs} ms`))
    void this.#worker.terminate()
  }

  #lose(cause: Error): void {
    if (!this.#lost) this.#options.onError(cause)
    this.#lost ??= cause
    for (const { reject } of this.#pending.values()) reject(unreachable(this.#lost))
    this.#pending.clear()
  }
}

function ready(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the thread of the database ended while it started'))
    worker.once('error', reject)
    worker.once('exit', ended)
    worker.once('message', (response: Response) => {
      worker.off('error', reject)
      worker.off('exit', ended)
      if (response.type === 'refused') reject(new AppError('unavailable', response.message))
      else resolve()
    })
  })
}

/** The error class of `pg`, so that callers see the same on both databases. */
function toDatabaseError({ message, ...fields }: RawError): Error {
  const error = new pg.DatabaseError(message, message.length, 'error')
  for (const field of ERROR_FIELDS) {
    if (fields[field] !== undefined) error[field] = fields[field]
  }
  return error
}

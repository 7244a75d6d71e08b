import { AppError } from '../../src/kernel/errors.ts'
import type { Database, Db } from '../../src/platform/db/schema.ts'
import { until } from './wait.ts'

/** How the service comes to ask. */
const ASKING = new Set<string | symbol>(['transaction', 'selectFrom', 'insertInto', 'getExecutor'])
const ENTERING = /\binsert into call_directory\b/

/** A database whose transactions a test can hold up, or whose answers it can lose. */
export class GatedDatabase {
  #next: (() => Promise<void>) | null = null
  #isRefusing = false
  /** Nothing is answered but that the database is away. */
  isAway = false

  /** The database as the service sees it. */
  of(database: Database): Database {
    const db = new Proxy(database.db, {
      get: (target, name) => {
        if (this.isAway && ASKING.has(name)) throw away()
        if (name === 'transaction') return () => ({ execute: this.#execute(target) })
        if (name === 'getExecutor') return () => this.#executorOf(target)
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return { ...database, db, vital: db }
  }

  /** The next transaction is done, and its answer held back until `release` is called. */
  hold(): { reached: () => Promise<unknown>; release: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isReached = false
    this.#next = () => {
      isReached = true
      return promise
    }
    return { reached: () => until(() => isReached, { what: 'the transaction' }), release: resolve }
  }

  /** The next transaction is done, but whoever asked for it never hears that. */
  loseAnswer(): void {
    this.#next = () => Promise.reject(away())
  }

  /** The next transaction is not done. */
  refuse(): void {
    this.#isRefusing = true
  }

  #execute(db: Db): ReturnType<Db['transaction']>['execute'] {
    return (work) => this.#passing(() => db.transaction().execute(work))
  }

  /** What enters a call by one statement is a transaction of its own. */
  #executorOf(db: Db): ReturnType<Db['getExecutor']> {
    const executor = db.getExecutor()
    const executeQuery: typeof executor.executeQuery = (query) => {
      const done = () => executor.executeQuery<never>(query)
      return ENTERING.test(query.sql) ? this.#passing(done) : done()
    }
    return new Proxy(executor, {
      get: (target, name) => {
        if (name === 'executeQuery') return executeQuery
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async #passing<Result>(work: () => Promise<Result>): Promise<Result> {
    const isRefused = this.#isRefusing
    this.#isRefusing = false
    if (isRefused) throw away()
    const after = this.#next
    this.#next = null
    const result = await work()
    await after?.()
    return result
  }
}

function away(): AppError {
  return new AppError('unavailable', 'The database is not reachable.')
}

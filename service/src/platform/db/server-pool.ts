import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { atDeadline, STOOD_STILL_MS, systemClock } from '../../kernel/clock.ts'
import { isReading } from '../current-request.ts'
import { SilentServer } from './connection-settings.ts'
import { isOfStatementAlone, toAppError, unreachable } from './errors.ts'
import type { FullDisk } from './full-disk.ts'
import type { LostAnswers } from './lost-answers.ts'
import { PreparedNames } from './prepared.ts'
import type { ReadOnlyConnections } from './read-only-connections.ts'
import type { ReadShare } from './read-share.ts'

/**
 * A pool of `pg` as Kysely wants it, whose errors are those of `toAppError`. `answerMs`: how long a query may take before the server
 * counts as gone; 0 for no limit. `readers`: whoever only looks at something, and may have some of the connections.
 */
export function serverPool(
  pool: pg.Pool,
  { readers, ...asking }: Omit<Asking, 'names'> & { readers: ReadShare },
): PostgresPool {
  // Kysely remembers clients that it has seen: one that is another object each time is a new connection to it.
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  const names = new PreparedNames()
  function adapted(client: pg.PoolClient): PostgresPoolClient {
    const made = known.get(client) ?? adapt(client, { ...asking, names })
    known.set(client, made)
    return made
  }
  /** `pg` has timers of its own for its connections, which a process that stood still meets before what has arrived. */
  async function connect(): Promise<pg.PoolClient> {
    const startMs = systemClock.monotonicMs()
    const waitsMs = pool.options.connectionTimeoutMillis ?? 0
    return pool.connect().catch((error: unknown) => {
      const isItsTimer = !(error instanceof SilentServer)
      if (!isItsTimer || systemClock.monotonicMs() - startMs < waitsMs + STOOD_STILL_MS) throw error
      return pool.connect()
    })
  }
  async function connectFresh(): Promise<pg.PoolClient> {
    const client = await connect()
    if (!asking.readOnly.mayInclude(client)) return client
    client.release(true)
    return connectFresh()
  }
  async function connectReader(): Promise<pg.PoolClient> {
    const leave = await readers.enter()
    try {
      const client = await connectFresh()
      // `pg` gives each taker another `release`, which works once.
      const { release } = client
      client.release = (destroy) => {
        release(destroy)
        leave()
      }
      return client
    } catch (error) {
      leave()
      throw error
    }
  }
  return {
    options: pool.options,
    async connect() {
      try {
        return adapted(await (isReading() ? connectReader() : connectFresh()))
      } catch (error) {
        const mapped = toAppError(error)
        // Whatever else a connection was not had for, as a certificate that is not good any more.
        throw mapped === error ? unreachable(error) : mapped
      }
    },
    end: () => pool.end(),
  }
}

type Asking = {
  answerMs: number
  lost: LostAnswers
  disk: Pick<FullDisk, 'saw'>
  readOnly: ReadOnlyConnections<pg.PoolClient>
  names: PreparedNames
}

/** The client for as long as its connection lasts; whoever has taken it from the pool gives it back by `release`. */
function adapt(client: pg.PoolClient, { names, ...asking }: Asking): PostgresPoolClient {
  let failed: Error | null = null
  async function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    // As a rollback would be: it waited for as long again, and the server rolls back what has lost its connection.
    if (failed !== null) throw failed
    try {
      const question = { name: names.nameOf(sql), text: sql, values: [...parameters] }
      return toResult<R>(lastOf(await answerOf(client, question, asking)))
    } catch (error) {
      // What comes by callback has the stack of the socket that brought it.
      if (error instanceof Error) Error.captureStackTrace(error)
      asking.disk.saw(error)
      asking.readOnly.saw(error)
      const mapped = toAppError(error)
      // A connection that went silent would make the next one wait for nothing too; one whose server says what was wrong with this alone is sound.
      if (mapped !== error && mapped instanceof Error && !isOfStatementAlone(error)) failed = mapped
      throw mapped
    }
  }
  return {
    query: query as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy || failed !== null),
  }
}

type Question = { name: string | undefined; text: string; values: unknown[] }

/**
 * By callback and with a timer of our own: for its promise and for its own timer `pg` writes functions right into members of the query
 * (`query.callback = () => …`), and V8 keeps whatever such a function reaches until its slow collector comes: 1.4 KB of each query.
 */
function answerOf(
  client: pg.PoolClient,
  question: Question,
  { answerMs, lost }: Pick<Asking, 'answerMs' | 'lost'>,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error('Query read timeout'))
    const cancel = answerMs > 0 ? atDeadline(systemClock, answerMs, late) : () => {}
    lost.waits(client)
    client.query(question, (error, result) => {
      cancel()
      lost.answered(client)
      if (error) reject(error)
      else resolve(result)
    })
  })
}

/** Several statements in one text give several results. */
function lastOf(result: pg.QueryResult | pg.QueryResult[]): pg.QueryResult {
  if (!Array.isArray(result)) return result
  const last = result.at(-1)
  if (!last) throw new Error('a text without a statement')
  return last
}

function toResult<R>({ command, rowCount, rows }: pg.QueryResult): PostgresQueryResult<R> {
  return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows }
}

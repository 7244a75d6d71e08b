import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { toAppError } from './errors.ts'
import type { FullDisk } from './full-disk.ts'
import { Mutex } from './mutex.ts'
import { encodeParameter } from './parameters.ts'
import type { PgliteClient } from './pglite-client.ts'
import type { RawResult } from './pglite-protocol.ts'
import type { PgliteThreads } from './pglite-threads.ts'
import { parserOf } from './values.ts'

/** As long as a server lets one wait for a connection of its pool. */
const LIMITS = { maxWaiting: 10_000, waitTimeoutMs: 5_000 }

/**
 * The embedded database as a pool of one connection, so that Kysely's own PostgreSQL driver runs on it as on a server.
 *
 * A transaction owns the connection; others queue in their order. A queue of 10,000, or 5 s in it, is AppError
 * `unavailable`.
 */
export function embeddedPool(
  threads: PgliteThreads,
  disk: Pick<FullDisk, 'saw'>,
): PostgresPool & { isIdle(): boolean } {
  const turn = new Mutex(LIMITS)
  const connectionOf = (to: PgliteClient) => madeConnection(to, { turn, disk })
  let [client, connection] = [threads.current, connectionOf(threads.current)]
  return {
    options: {},
    isIdle: () => turn.isFree,
    async connect() {
      await turn.acquire()
      // A transaction that another thread has begun ends there: what it asks later is refused, and is none of the next one's.
      if (client !== threads.current) {
        client = threads.current
        connection = connectionOf(client)
      }
      return connection
    },
    async end() {
      // Whoever still holds the connection when the wait is over has its transaction rolled back.
      await turn.close().catch(() => undefined)
      await threads.close()
    },
  }
}

type Around = { turn: Mutex; disk: Pick<FullDisk, 'saw'> }

/** Its errors are those of `toAppError`, as on a server. */
function madeConnection(client: PgliteClient, { turn, disk }: Around): PostgresPoolClient {
  async function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const encoded = parameters.length > 0 ? parameters.map(encodeParameter) : null
    try {
      return parsed<R>(await client.query(sql, encoded))
    } catch (error) {
      disk.saw(error)
      throw toAppError(error)
    }
  }
  return { query: query as PostgresPoolClient['query'], release: () => turn.release() }
}

function parsed<R>({ command, affectedRows, columns, rows }: RawResult): PostgresQueryResult<R> {
  const parsers = columns.typeIds.map((typeId) => parserOf(typeId))
  const toRow = (values: (string | null)[]): R => {
    const row: Record<string, unknown> = {}
    parsers.forEach((parse, i) => {
      row[columns.names[i] as string] = parseValue(values[i], parse)
    })
    return row as R
  }
  return { command: command as PostgresQueryResult<R>['command'], rowCount: affectedRows, rows: rows.map(toRow) }
}

function parseValue(text: string | null | undefined, parse: (text: string) => unknown): unknown {
  return text === null || text === undefined ? null : parse(text)
}

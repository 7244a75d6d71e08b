import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { toAppError } from './errors.ts'

/** A pool of `pg` as Kysely wants it, whose errors are those of `toAppError`. */
export function serverPool(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      try {
        return adapt(await pool.connect())
      } catch (error) {
        throw toAppError(error)
      }
    },
    end: () => pool.end(),
  }
}

function adapt(client: pg.PoolClient): PostgresPoolClient {
  let failed = false
  async function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    try {
      return toResult<R>(lastOf(await client.query(sql, [...parameters])))
    } catch (error) {
      const mapped = toAppError(error)
      // A connection that went silent would make the next one wait for nothing too.
      failed ||= mapped !== error
      throw mapped
    }
  }
  return {
    query: query as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy || failed),
  }
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

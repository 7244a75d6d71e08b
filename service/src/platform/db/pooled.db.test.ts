import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { areConnectionsShared } from './pooled.ts'
import type { Schema } from './schema.ts'

const test = useDatabase()

/** A pooler as it is in the mode `transaction`: of each client every transaction is done on whichever connection was let go last. */
function sharing(pool: pg.Pool): PostgresPool {
  async function connect(): Promise<PostgresPoolClient> {
    let held: pg.PoolClient | null = null
    async function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
      const client: pg.PoolClient = held ?? (await pool.connect())
      held = text.startsWith('begin') ? client : held
      const { rows, rowCount } = await client.query(text, [...values])
      if (held === null || /^(commit|rollback)/.test(text)) {
        client.release()
        held = null
      }
      return { command: 'SELECT', rowCount: rowCount ?? 0, rows }
    }
    return { query: query as PostgresPoolClient['query'], release: () => undefined }
  }
  return { options: pool.options, connect, end: () => pool.end() }
}

describe.runIf(inject('databaseTemplate').kind === 'server')('connections of a server', () => {
  it('are our own', async () => {
    expect(await areConnectionsShared(test.db)).toBe(false)
  })

  it('are not, by way of a pooler that shares them out by the transaction', async () => {
    const pool = new pg.Pool({ connectionString: test.settings['DATABASE_URL'] })
    // The database is dropped before they have all ended.
    pool.on('connect', (client) => client.on('error', () => undefined))
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: sharing(pool) }) })
    onTestFinished(() => db.destroy())
    await sql`select 1`.execute(db)
    expect(await areConnectionsShared(db)).toBe(true)
  })
})

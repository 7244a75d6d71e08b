import { sql } from 'kysely'
import type { Db } from './schema.ts'

/**
 * Whether somebody in between gives a connection of ours another one of the server's for each transaction, so that neither settings nor
 * prepared statements last: one that was let go is taken by a transaction, and then asked for again.
 */
export async function areConnectionsShared(db: Db): Promise<boolean> {
  return db.connection().execute(async (one) => {
    const before = await processId(one)
    return db.transaction().execute(async (other) => {
      await processId(other)
      return (await processId(one)) !== before
    })
  })
}

async function processId(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`select pg_backend_pid() as id`.execute(db)
  return rows[0]?.id
}

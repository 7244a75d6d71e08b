import { sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'

const test = useDatabase()

describe.runIf(inject('databaseTemplate').kind === 'server')('a database that is copied by logical replication', () => {
  it('lets rows of every table be changed and removed', async () => {
    await sql`create publication everything for all tables`.execute(test.db)
    onTestFinished(async () => void (await sql`drop publication everything`.execute(test.db)))
    const { rows: tables } = await sql<{ tablename: string }>`
      select tablename from pg_tables where schemaname = current_schema()`.execute(test.db)
    expect(tables).not.toEqual([])
    for (const { tablename } of tables) await sql`delete from ${sql.table(tablename)} where false`.execute(test.db)
  })
})

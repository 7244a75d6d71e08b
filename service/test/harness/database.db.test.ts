import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useDatabase } from './database.ts'

const test = useDatabase()

async function marks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from installation_marks`.execute(test.db)
  return rows[0]?.count ?? -1
}

describe('useDatabase', () => {
  it.each([1, 2])('gives empty tables to test %i, although each fills one', async () => {
    expect(await marks()).toBe(0)
    await sql`insert into installation_marks (mark) values ('test')`.execute(test.db)
  })

  it('keeps the record of migrations', async () => {
    const rows = await test.db.selectFrom('schema_migrations').select('name').limit(1).execute()
    expect(rows).toHaveLength(1)
  })

  it('opens another handle on the same data', async () => {
    await sql`insert into installation_marks (mark) values ('seen')`.execute((await test.anotherNode()).db)
    expect(await marks()).toBe(1)
  })
})

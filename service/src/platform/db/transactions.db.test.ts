import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import type { Db } from './schema.ts'

const test = useDatabase()

beforeAll(async () => {
  await sql`create table counters (name text primary key, value int not null)`.execute(test.db)
})
beforeEach(async () => {
  await sql`insert into counters values ('a', 0)`.execute(test.db)
})

async function read(db: Db): Promise<number> {
  const { rows } = await sql<{ value: number }>`select value from counters where name = 'a'`.execute(db)
  return rows[0]?.value ?? Number.NaN
}

async function write(db: Db, value: number): Promise<void> {
  await sql`update counters set value = ${value} where name = 'a'`.execute(db)
}

describe('a transaction', () => {
  it('commits when its work is done', async () => {
    await test.db.transaction().execute((tx) => write(tx, 5))
    expect(await read(test.db)).toBe(5)
  })

  it('is rolled back when its work throws', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await write(tx, 5)
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await read(test.db)).toBe(0)
  })

  it('is rolled back as a whole when a statement of it fails', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await write(tx, 5)
      await sql`select 1 / 0`.execute(tx)
    })
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(await read(test.db)).toBe(0)
  })

  it('does not claim to be committed after a failed statement that its work ignored', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await write(tx, 5)
      await sql`select 1 / 0`.execute(tx).catch(() => undefined)
    })
    await expect(work).rejects.toThrow('rolled back instead of committed')
    expect(await read(test.db)).toBe(0)
  })

  it('refuses statements after one has failed', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await sql`select 1 / 0`.execute(tx).catch(() => undefined)
      await write(tx, 5)
    })
    await expect(work).rejects.toMatchObject({ code: '25P02' })
  })

  it('goes on from a savepoint', async () => {
    const tx = await test.db.startTransaction().execute()
    await write(tx, 1)
    const saved = await tx.savepoint('before').execute()
    await write(saved, 2)
    await saved.rollbackToSavepoint('before').execute()
    await tx.commit().execute()
    expect(await read(test.db)).toBe(1)
  })

  it('is not seen by others before it is committed, and they do not join it', async () => {
    let outside: Promise<number> | undefined
    await test.db.transaction().execute(async (tx) => {
      await write(tx, 1)
      outside = read(test.db)
      // On a server the other connection answers now; the embedded database answers when this transaction is done.
      if (test.kind === 'server') expect(await outside).toBe(0)
    })
    expect(await outside).toBe(test.kind === 'server' ? 0 : 1)
  })

  it('loses no update to another that runs at the same time', async () => {
    const increment = () =>
      test.db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ value: number }>`
          select value from counters where name = 'a' for update`.execute(tx)
        await write(tx, (rows[0]?.value ?? Number.NaN) + 1)
      })
    await Promise.all(Array.from({ length: 50 }, increment))
    expect(await read(test.db)).toBe(50)
  })
})

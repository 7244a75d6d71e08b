import { randomBytes } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { until } from '../../../test/harness/wait.ts'
import { takeLock } from './advisory-locks.ts'
import type { Database } from './schema.ts'
import { openServer } from './server.ts'

const test = useDatabase()
const PASSWORD = 'the-password'

/** The database as a role has it whose connections begin with these settings, as `alter role … set` gives them. */
async function openWith(settings: Record<string, string>): Promise<Database> {
  const role = `parley_settings_${randomBytes(6).toString('hex')}`
  await sql.raw(`create role ${role} superuser login password '${PASSWORD}'`).execute(test.db)
  const url = new URL(test.settings['DATABASE_URL'] ?? '')
  Object.assign(url, { username: role, password: PASSWORD })
  const database = openServer({ url: url.href, applicationName: role })
  onTestFinished(async () => {
    await database.close()
    await sql.raw(`drop role ${role}`).execute(test.db)
  })
  for (const [name, value] of Object.entries(settings)) {
    await sql.raw(`alter role ${role} set ${name} = '${value}'`).execute(test.db)
  }
  return database
}

async function one<T>(database: Pick<Database, 'db'>, value: RawBuilder<T>): Promise<T | undefined> {
  const { rows } = await sql<{ value: T }>`select ${value} as value`.execute(database.db)
  return rows[0]?.value
}

/** PostgreSQL 17 was the first that can end a transaction for its length. */
async function limitsOfTime(): Promise<string[]> {
  const known = await one(test, sql`current_setting('transaction_timeout', true)`)
  return ['statement_timeout', ...(typeof known === 'string' ? ['transaction_timeout'] : [])]
}

describe.runIf(inject('databaseTemplate').kind === 'server')('on a server whose role has other settings', () => {
  it.each(['SQL, DMY', 'German', 'Postgres, MDY'])(
    'instants and days are what they are (datestyle %s)',
    async (style) => {
      const database = await openWith({ datestyle: style, timezone: 'Asia/Tokyo' })
      const at = '2026-01-31T22:05:06.070Z'
      expect(await one(database, sql`${at}::timestamptz`)).toEqual(new Date(at))
      expect(await one(database, sql`(${at}::timestamptz)::date`)).toBe('2026-01-31')
    },
  )

  it.each(['repeatable read', 'serializable'])(
    'who had to wait for a lock sees what was done meanwhile (%s)',
    async (level) => {
      const database = await openWith({ default_transaction_isolation: level })
      const marks = test.db.transaction().execute(async (tx) => {
        await takeLock(tx, 'tenant', 'acme')
        const counted = database.db.transaction().execute(async (other) => {
          await takeLock(other, 'tenant', 'acme')
          return other.selectFrom('installation_marks').select('mark').execute()
        })
        await until(async () => (await one(test, waiters)) === 1, { what: 'the other one to wait' })
        await sql`insert into installation_marks (mark) values ('done')`.execute(tx)
        return { counted }
      })
      expect(await (await marks).counted).toEqual([{ mark: 'done' }])
    },
  )

  it('a backslash in a statement is one', async () => {
    const database = await openWith({ standard_conforming_strings: 'off' })
    expect(await one(database, sql.raw("'\\0'"))).toBe('\\0')
  })

  it('a migration takes as long as it takes', async () => {
    const limits = await limitsOfTime()
    // A connection is set up within them, too, also on a machine that is held up.
    const { withoutLimit } = await openWith(Object.fromEntries(limits.map((name) => [name, '1s'])))
    const work = withoutLimit((db) => db.transaction().execute((tx) => sql`select pg_sleep(1.3)`.execute(tx)))
    await expect(work).resolves.toBeDefined()
  })

  it('a connection that nobody uses is ours to end', async () => {
    const database = await openWith({ idle_session_timeout: '1s' })
    expect(await one(database, sql`current_setting('idle_session_timeout')`)).toBe('0')
  })
})

const waiters = sql<number>`(
  select count(*) from pg_locks
   where locktype = 'advisory' and not granted
     and database = (select oid from pg_database where datname = current_database()))`

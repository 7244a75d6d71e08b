import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { scratchFolder } from '../../../test/harness/scratch.ts'
import { MIGRATIONS } from '../../../test/harness/template.ts'
import { until } from '../../../test/harness/wait.ts'
import { makeLog } from '../log.ts'
import { migrate } from './migrate.ts'
import type { Db, Tx } from './schema.ts'

const test = useDatabase()
let path: string
let folder: URL

beforeEach(async () => {
  await sql`drop schema public cascade; create schema public`.execute(test.db)
  path = await scratchFolder()
  folder = pathToFileURL(`${path}/`)
})
afterEach(() => rm(path, { recursive: true }))

function file(name: string, text: string): Promise<void> {
  return writeFile(join(path, name), text)
}

async function tables(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(test.db)
  return rows.map(({ name }) => name)
}

/** How many wait for tables, and how many for their turn. */
async function waitingFor(db: Db): Promise<{ tables: number; turns: number }> {
  const { rows } = await sql<{ tables: number; turns: number }>`
    select count(*) filter (where locktype = 'relation') as tables, count(*) filter (where locktype = 'advisory') as turns
      from pg_locks
     where not granted and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0] ?? { tables: 0, turns: 0 }
}

describe('migrate', () => {
  it('runs each file once, in the order of their numbers', async () => {
    await file('0002_fill.sql', "insert into things values ('a'); insert into things values ('b')")
    await file('0001_things.sql', 'create table things (name text); -- with a comment; and a semicolon')
    expect(await migrate(test.db, folder)).toEqual(['0001_things', '0002_fill'])
    expect(await migrate(test.db, folder)).toEqual([])
    await file('0003_more.sql', "insert into things values ('c')")
    expect(await migrate(test.db, folder)).toEqual(['0003_more'])
    expect((await sql`select name from things`.execute(test.db)).rows).toHaveLength(3)
  })

  it('does the step of a file behind its statements, once, and leaves nothing of either where it fails', async () => {
    await file('0001_things.sql', 'create table things (name text)')
    await file('0002_fill.sql', "insert into things values ('a')")
    const log = { info: () => {} }
    const fill = {
      async '0002_fill'(tx: Tx) {
        await sql`insert into things select name || 'b' from things`.execute(tx)
      },
    }
    const failing = { '0002_fill': () => Promise.reject(new Error('no way')) }
    await expect(migrate(test.db, folder, log, { steps: failing })).rejects.toThrow(
      'migration 0002_fill failed: no way',
    )
    for (const applied of [['0002_fill'], []])
      expect(await migrate(test.db, folder, log, { steps: fill })).toEqual(applied)
    expect((await sql`select name from things`.execute(test.db)).rows).toEqual([{ name: 'a' }, { name: 'ab' }])
  })

  it('does nothing where there is no file for a step', async () => {
    await file('0001_things.sql', 'create table things (name text)')
    const step = { '0001_thing': () => Promise.resolve() }
    await expect(migrate(test.db, folder, undefined, { steps: step })).rejects.toThrow('no migration 0001_thing.sql')
    expect(await migrate(test.db, folder)).toEqual(['0001_things'])
  })

  it('takes only files of its own form', async () => {
    for (const name of ['readme.md', '0001_up.sql~', '1_x.sql', '0001-x.sql']) await file(name, 'not sql')
    expect(await migrate(test.db, folder)).toEqual([])
  })

  it('leaves nothing of a file that fails, keeps those before it, and names it', async () => {
    await file('0001_good.sql', 'create table good ()')
    await file('0002_bad.sql', 'create table bad (); create table bad ()')
    await expect(migrate(test.db, folder)).rejects.toThrow('migration 0002_bad failed: relation "bad" already exists')
    expect(await tables()).toEqual(['good', 'schema_migrations'])
    await file('0002_bad.sql', 'create table mended ()')
    expect(await migrate(test.db, folder)).toEqual(['0002_bad'])
  })

  it('refuses a file that was changed after it had been applied, and runs nothing after it', async () => {
    await file('0001_a.sql', 'create table a ()')
    await migrate(test.db, folder)
    await file('0001_a.sql', 'create table a (more text)')
    await file('0002_b.sql', 'create table b ()')
    await expect(migrate(test.db, folder)).rejects.toThrow('migration 0001_a was changed after it had been applied')
    expect(await tables()).toEqual(['a', 'schema_migrations'])
  })

  it('lets an older release start beside a newer one, and says so', async () => {
    await file('0001_a.sql', 'create table a ()')
    await file('0002_newer.sql', 'alter table a add more text')
    await migrate(test.db, folder)
    await rm(join(path, '0002_newer.sql'))
    const lines: string[] = []
    const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
    expect(await migrate(test.db, folder, log)).toEqual([])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ migrations: ['0002_newer'] }])
  })

  it('tells of each file of an update, and of a new database in one line', async () => {
    const lines: string[] = []
    const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
    await file('0001_a.sql', 'create table a ()')
    await file('0002_b.sql', 'create table b ()')
    await migrate(test.db, folder, log)
    await file('0003_c.sql', 'create table c ()')
    await migrate(test.db, folder, log)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'a new database was set up', migrations: 2 },
      { msg: 'migration applied', migration: '0003_c' },
    ])
  })

  it('applies each file once however many nodes start together', async () => {
    await file('0001_a.sql', 'create table a (name text); select pg_sleep(0.05)')
    await file('0002_fill.sql', "insert into a values ('once')")
    const nodes = await Promise.all(Array.from({ length: 4 }, () => test.anotherNode()))
    const applied = await Promise.all(nodes.map(({ db }) => migrate(db, folder)))
    expect(applied.flat().sort()).toEqual(['0001_a', '0002_fill'])
    expect((await sql`select name from a`.execute(test.db)).rows).toEqual([{ name: 'once' }])
  })

  it('lets others at a table that somebody has read for long, as a backup does, and is done when that is over', async () => {
    // On the embedded database nobody else reads.
    if (test.kind === 'embedded') return
    await file('0001_things.sql', 'create table things (name text)')
    await migrate(test.db, folder)
    await file('0002_more.sql', 'alter table things add more text')
    const [backup, reader, other] = [await test.anotherNode(), await test.anotherNode(), await test.anotherNode()]
    const before = await test.anotherNode()
    const clock = new TestClock()
    const lines: string[] = []
    const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
    const read = (db: Db) => sql`select from things`.execute(db)
    let migrating: Promise<string[]> | undefined
    let alike: Promise<string[]> | undefined
    await backup.db.transaction().execute(async (tx) => {
      await read(tx)
      migrating = test.database.withoutLimit((db) => migrate(db, folder, log, { clock }))
      // It waits for seconds of the machine's own: one that was held up for these finds that it has given up its place.
      const hasWaited = async () => clock.pendingTimers > 0 || (await waitingFor(reader.db)).tables > 0
      await until(hasWaited, { what: 'the file to wait for the backup' })
      await read(reader.db)
      await until(() => clock.pendingTimers > 0, { what: 'the file to give up its place' })
      alike = other.withoutLimit((db) => migrate(db, folder, undefined, { clock }))
      await until(async () => (await waitingFor(reader.db)).turns > 0, { what: 'another node to wait for its turn' })
      expect((await waitingFor(reader.db)).tables).toBe(0)
      // A node of the version before has nothing to wait for.
      await rename(join(path, '0002_more.sql'), join(path, 'later'))
      expect(await before.withoutLimit((db) => migrate(db, folder))).toEqual([])
    })
    await clock.advance(10_000)
    expect([await migrating, await alike]).toEqual([['0002_more'], []])
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'a migration waits for who has its tables: others go first',
      'migration applied',
    ])
  })

  it('drops an index in a file by itself, in which it waits for nobody whom it holds up', async () => {
    const statements = new Map<string, string[]>()
    for (const name of await readdir(MIGRATIONS)) {
      const text = (await readFile(new URL(name, MIGRATIONS), 'utf8')).replaceAll(/--.*/g, '')
      statements.set(
        name,
        text
          .split(';')
          .map((each) => each.trim())
          .filter(Boolean),
      )
    }
    const mixed = [...statements].filter(
      ([, all]) => all.length > 1 && all.some((each) => each.startsWith('drop index')),
    )
    // Of a release before this rule.
    expect(mixed.map(([name]) => name)).toEqual(['0036_sweep_indexes.sql'])
  })

  it('applies the files of this release to an empty database', async () => {
    await cp(MIGRATIONS, folder, { recursive: true })
    const files = await readdir(folder)
    expect(await migrate(test.db, folder)).toEqual(files.sort().map((name) => name.slice(0, -'.sql'.length)))
  })
})

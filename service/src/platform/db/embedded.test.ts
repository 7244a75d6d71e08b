import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../../test/harness/scratch.ts'
import { until } from '../../../test/harness/wait.ts'
import { startWriter, type Writer } from '../../../test/harness/writer.ts'
import { openEmbedded } from './embedded.ts'
import type { Database } from './schema.ts'

const UNREACHABLE = { code: 'unavailable', message: 'The database is not reachable. Try again.' }

let root: string
let template: string
let folder: string
const open = new Set<Database>()
const writers = new Set<Writer>()

beforeAll(async () => {
  root = await scratchFolder()
  template = join(root, 'template')
  await (await openEmbedded({ pid: process.pid, folder: template })).close()
})
afterAll(() => rm(root, { recursive: true }))

beforeEach(async () => {
  folder = await mkdtemp(join(root, 'test-'))
  await cp(template, folder, { recursive: true })
})
afterEach(async () => {
  for (const writer of writers) await writer.kill()
  for (const database of open) await database.close()
  writers.clear()
  open.clear()
})

async function opened(options: Partial<Parameters<typeof openEmbedded>[0]> = {}): Promise<Database> {
  const database = await openEmbedded({ pid: process.pid, folder, ...options })
  open.add(database)
  return database
}

function writing(): Writer {
  const writer = startWriter(folder)
  writers.add(writer)
  return writer
}

async function written(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from written`.execute(database.db)
  return rows[0]?.count ?? Number.NaN
}

/** An endless statement: nothing inside PostgreSQL's thread can stop it. */
function runForEver({ db }: Pick<Database, 'db'>): Promise<unknown> {
  return sql`with recursive r (n) as (select 1 union all select n % 1000 + 1 from r) select count(*) from r`.execute(db)
}

describe('an embedded database', () => {
  it('is idle while nobody asks it anything', async () => {
    const database = await opened()
    expect(database.isIdle()).toBe(true)
    const transaction = await database.db.startTransaction().execute()
    const waiting = sql`select 1`.execute(database.db)
    expect(database.isIdle()).toBe(false)
    await transaction.rollback().execute()
    await waiting
    expect(database.isIdle()).toBe(true)
  })
})

describe('the folder of an embedded database', () => {
  it('is readable by its owner only', async () => {
    const { mode } = await stat(template)
    expect(mode & 0o777).toBe(0o700)
  })

  it('is refused to a second process, with a line that names the first', async () => {
    await opened()
    const { pid, since } = JSON.parse(await readFile(join(folder, 'owner.json'), 'utf8'))
    const second = writing()
    expect(await second.ended).not.toBe(0)
    expect(second.complaint()).toContain(
      `The database in ${folder} is in use by process ${pid} (since ${since}). ` +
        'Stop it, or set DATA_DIR to another folder.',
    )
    expect(pid).toBe(process.pid)
  })

  it('is refused to the same process too', async () => {
    await opened()
    await expect(openEmbedded({ pid: process.pid, folder })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is in use by process'),
    })
  })

  it('is free again once the first has closed', async () => {
    const first = await opened()
    await first.close()
    await (await opened()).ping(10_000)
  })

  it('is free again, and holds every acknowledged row, after the first was killed', async () => {
    for (let round = 1; round <= 3; round++) {
      const writer = writing()
      await until(() => writer.acknowledged() >= 20 * round, { what: 'some rows' })
      await writer.kill()
      const acknowledged = writer.acknowledged()
      const database = await opened()
      const rows = await written(database)
      // One more may have been committed whose number was not printed any more.
      expect(rows - acknowledged).toBeOneOf([0, 1])
      await database.close()
    }
  })

  it('says what is wrong when it cannot be a folder', async () => {
    const path = join(folder, 'owner.json', 'below')
    await expect(openEmbedded({ pid: process.pid, folder: path })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/owner\.json\/below cannot hold the database \(.+\)\. Mend that, or set DATA_DIR/),
    })
  })

  // Node's own way to make folders goes on for ever there.
  it.runIf(process.platform === 'linux')('says so where no folder can be made at all', async () => {
    await expect(openEmbedded({ pid: process.pid, folder: '/proc/none/database' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /\/proc\/none\/database cannot hold the database \(ENOENT.+\)\. Mend that, or set DATA_DIR/,
      ),
    })
  })

  it('says so when its data is of another major version of PostgreSQL', async () => {
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '17\n')
    await expect(openEmbedded({ pid: process.pid, folder })).rejects.toMatchObject({
      message: expect.stringContaining('was made by PostgreSQL 17, and this program has 18'),
    })
  })

  it('has the version that is checked for', async () => {
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(
      (await opened()).db,
    )
    expect(rows[0]?.version).toMatch(/^18\./)
  })

  it('says so when its data is damaged, and what PostgreSQL met', async () => {
    await rm(join(folder, 'postgres', 'global'), { recursive: true })
    await expect(openEmbedded({ pid: process.pid, folder })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(
        `The folder ${folder} cannot hold the database (could not open file "global/pg_control": No such file or directory)`,
      ),
    })
  })

  it('starts anew when it was killed while it was made', async () => {
    await rm(join(folder, 'postgres'), { recursive: true })
    const writer = writing()
    const begun = async () => (await readdir(folder, { recursive: true })).some((name) => name.endsWith('PG_VERSION'))
    await until(begun, { what: 'the first files of the database', timeoutMs: 60_000 })
    await writer.kill()
    expect(writer.acknowledged()).toBe(0)
    await (await opened()).ping(10_000)
  }, 120_000)
})

describe('an embedded database', () => {
  it('finishes what runs before it closes, refuses what comes later, and closes once', async () => {
    const database = await opened()
    await sql`create table written (n int)`.execute(database.db)
    const inserts = Array.from({ length: 20 }, (_, n) => sql`insert into written values (${n})`.execute(database.db))
    const closed = Promise.all([database.close(), database.close()])
    await expect(database.ping(1_000)).rejects.toMatchObject({ code: 'unavailable' })
    await Promise.all(inserts)
    await closed
    expect(await written(await opened())).toBe(20)
  })

  it('is opened again when its thread has ended, with what was committed and without what was begun', async () => {
    const before = await opened()
    await sql`create table written (n int)`.execute(before.db)
    await sql`insert into written values (1)`.execute(before.db)
    await before.close()
    const told: string[] = []
    const database = await opened({
      statementTimeoutMs: 1_000,
      onError: ({ message }) => told.push(message),
      onBack: () => told.push('back'),
    })
    for (const _time of [1, 2]) {
      const begun = await database.db.startTransaction().execute()
      await sql`insert into written values (2)`.execute(begun)
      await expect(runForEver({ db: begun })).rejects.toMatchObject(UNREACHABLE)
      await until(async () => told.at(-1) === 'back', { what: 'the database to be opened again' })
      await expect(sql`insert into written values (3)`.execute(begun)).rejects.toMatchObject(UNREACHABLE)
      await begun
        .rollback()
        .execute()
        .catch(() => undefined)
      expect(await written(database)).toBe(1)
    }
    const late = 'a statement ran longer than 1000 ms'
    expect(told).toEqual([late, 'back', late, 'back'])
    await database.close()
    expect(await written(await opened())).toBe(1)
  })

  it('closes while it is opened again, and gives the folder back', async () => {
    const database = await opened({ statementTimeoutMs: 200 })
    await expect(runForEver(database)).rejects.toMatchObject(UNREACHABLE)
    await database.close()
    await expect(database.ping(1_000)).rejects.toMatchObject({ code: 'unavailable' })
    await (await opened()).ping(5_000)
  })

  it('is gone with its thread where it was in memory', async () => {
    const losses: string[] = []
    const onError = ({ message }: Error) => losses.push(message)
    const database = await opened({ folder: null, statementTimeoutMs: 200, onError })
    await expect(runForEver(database)).rejects.toMatchObject(UNREACHABLE)
    await expect(database.ping(1_000)).rejects.toMatchObject(UNREACHABLE)
    await database.close()
    expect(losses).toEqual(['a statement ran longer than 200 ms'])
  })

  it('lets work take as long as it needs that has no limit, and what comes after it no longer than before', async () => {
    const database = await opened({ statementTimeoutMs: 100 })
    const counted = await database.withoutLimit(async (db) => {
      const statement = sql<{ count: number }>`select count(*)::integer as count from generate_series(1, 2000000)`
      const startMs = performance.now()
      const { rows } = await statement.execute(db)
      return { count: rows[0]?.count, isLate: performance.now() - startMs > 100 }
    })
    expect(counted).toEqual({ count: 2_000_000, isLate: true })
    await expect(runForEver(database)).rejects.toMatchObject(UNREACHABLE)
  })

  it('closes under a transaction that does not end, and nothing of that remains', async () => {
    const database = await opened()
    await sql`create table written (n int)`.execute(database.db)
    const held = await database.db.startTransaction().execute()
    await sql`insert into written values (1)`.execute(held)
    await database.close()
    await expect(sql`select 1`.execute(held)).rejects.toMatchObject(UNREACHABLE)
    expect(await written(await opened())).toBe(0)
  })
})

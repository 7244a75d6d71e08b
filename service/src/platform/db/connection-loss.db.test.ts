import { sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { startTcpProxy } from '../../../test/harness/tcp-proxy.ts'
import { until } from '../../../test/harness/wait.ts'
import { othersFirst } from '../../kernel/clock.ts'
import { prepared } from './prepared.ts'
import type { Db } from './schema.ts'
import { openServer } from './server.ts'

const test = useDatabase()
const UNREACHABLE = { code: 'unavailable', message: 'The database is not reachable. Try again.' }

/** Soon over, and no statement of a busy machine takes so long; an answer is awaited for two seconds more. */
const STATEMENT_MS = 1_000
/** Five seconds are waited for a connection, and a timer may be a second late. */
const STANDS_STILL_MS = 6_500

async function backend(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? Number.NaN
}

/** The address of this file's database. */
async function currentUrl(): Promise<URL> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(test.db)
  const template = inject('databaseTemplate')
  if (template.kind !== 'server') throw new Error('the embedded database has no address')
  const url = new URL(template.url)
  url.pathname = `/${rows[0]?.name}`
  return url
}

/** Ends the connection from outside, as an administrator or a restart would, and waits until it is gone. */
async function terminate(pid: number): Promise<void> {
  const { db } = await test.anotherNode()
  await sql`select pg_terminate_backend(${pid}::int4)`.execute(db)
  const gone = async () => {
    const { rows } = await sql`select from pg_stat_activity where pid = ${pid}::int4`.execute(db)
    return rows.length === 0
  }
  await until(gone, { what: 'the end of the connection' })
}

// The embedded database has no connection to lose; what happens when its thread ends is told in embedded.test.ts.
describe.runIf(inject('databaseTemplate').kind === 'server')('when the server ends a connection', () => {
  it('that runs a statement, the statement is unavailable and the next one works', async () => {
    const { db } = await test.anotherNode()
    const sleeping = sql`select pg_sleep(60)`.execute(db)
    const refused = expect(sleeping).rejects.toMatchObject(UNREACHABLE)
    const running = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity
         where query = 'select pg_sleep(60)' and state = 'active' and pid <> pg_backend_pid()`.execute(test.db)
      return rows[0]?.pid
    }
    await terminate(await until(running, { what: 'the statement to run' }))
    await refused
    expect(await backend(db)).toBeGreaterThan(0)
  })

  it('that nobody uses, the next statement works', async () => {
    const before = await backend(test.db)
    await terminate(before)
    // The server has ended it; that this has come to our side may take a moment yet.
    const after = () => backend(test.db).catch(() => before)
    await until(async () => (await after()) !== before, { what: 'a new connection' })
  })

  it('that has prepared a statement, the next one prepares it anew', async () => {
    const known = async () =>
      (await prepared('call', sql<{ pid: number }>`select pg_backend_pid() as pid`).execute(test.db)).rows[0]?.pid
    const before = (await known()) ?? Number.NaN
    expect(await known()).toBe(before)
    await terminate(before)
    const after = () => known().catch(() => before)
    await until(async () => (await after()) !== before, { what: 'a new connection' })
    expect(await known()).toBeGreaterThan(0)
  })

  it('while somebody else has locked what a statement changes, that is unavailable in good time, and the connection is kept', async () => {
    const url = (await currentUrl()).href
    const { db, close } = openServer({ url, applicationName: 'locks', maxConnections: 1, statementTimeoutMs: 3_000 })
    onTestFinished(close)
    await sql`insert into installation_marks (mark) values ('locked')`.execute(test.db)
    const before = await backend(db)
    await test.db.transaction().execute(async (tx) => {
      await sql`select from installation_marks where mark = 'locked' for update`.execute(tx)
      const waiting = sql`delete from installation_marks where mark = 'locked'`.execute(db)
      await expect(waiting).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('holds what this needs'),
      })
    })
    expect(await backend(db)).toBe(before)
  })

  it('over a statement that takes too long, that is unavailable and says so, and the connection is kept', async () => {
    const url = (await currentUrl()).href
    const options = { applicationName: 'slow', maxConnections: 1, statementTimeoutMs: STATEMENT_MS }
    const { db, close } = openServer({ url, ...options })
    onTestFinished(close)
    const before = await backend(db)
    const slow = sql`select pg_sleep(60)`.execute(db)
    await expect(slow).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database took too long over this. Try again.',
    })
    expect(await backend(db)).toBe(before)
  })

  it('between two statements of a transaction, the second is unavailable and the process goes on', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await sql`insert into installation_marks (mark) values ('lost')`.execute(tx)
      await terminate(await backend(tx))
      await sql`select 1`.execute(tx)
    })
    await expect(work).rejects.toMatchObject(UNREACHABLE)
    expect((await sql`select from installation_marks`.execute(test.db)).rows).toEqual([])
  })

  it('before the commit, the transaction is unavailable', async () => {
    const work = test.db.transaction().execute(async (tx) => {
      await sql`insert into installation_marks (mark) values ('lost')`.execute(tx)
      await terminate(await backend(tx))
    })
    await expect(work).rejects.toMatchObject(UNREACHABLE)
    expect((await sql`select from installation_marks`.execute(test.db)).rows).toEqual([])
  })

  /** A handle whose connections a test can silence. */
  async function behindProxy(options: { maxConnections: number; statementTimeoutMs?: number }) {
    const url = await currentUrl()
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.port = String(proxy.port)
    const behind = openServer({ url: url.href, applicationName: 'test', ...options })
    onTestFinished(async () => {
      await behind.close()
      await proxy.close()
    })
    await behind.ping(10_000)
    return { proxy, behind }
  }

  it('without a word, the statement is unavailable in time and the next one works', async () => {
    const { proxy, behind } = await behindProxy({ maxConnections: 1, statementTimeoutMs: STATEMENT_MS })
    proxy.freeze()
    await expect(sql`select 1`.execute(behind.db)).rejects.toMatchObject(UNREACHABLE)
    expect(await backend(behind.db)).toBeGreaterThan(0)
  })

  it('without a word, its transaction does not wait for the rollback too', async () => {
    const { proxy, behind } = await behindProxy({ maxConnections: 1, statementTimeoutMs: STATEMENT_MS })
    let failedMs = Number.NaN
    const work = behind.db.transaction().execute(async (tx) => {
      proxy.freeze()
      await sql`select 1`.execute(tx).finally(() => {
        failedMs = performance.now()
      })
    })
    await expect(work).rejects.toMatchObject(UNREACHABLE)
    // For the rollback it would have been this, and two seconds more.
    expect(performance.now() - failedMs).toBeLessThan(STATEMENT_MS + 1_500)
  })

  it('without a word, a new connection finds that out, and statements that are only slow go on', async () => {
    const { proxy, behind } = await behindProxy({ maxConnections: 1 })
    const slow = sql`select pg_sleep(9)`.execute((await test.anotherNode()).db)
    proxy.freeze()
    const startMs = performance.now()
    await expect(sql`select 1`.execute(behind.db)).rejects.toMatchObject(UNREACHABLE)
    expect(performance.now() - startMs).toBeLessThan(15_000)
    expect(await backend(behind.db)).toBeGreaterThan(0)
    await slow
  })

  it('because we close it under a transaction that does not end, nothing of that remains', async () => {
    const { db, close } = await test.anotherNode()
    const held = await db.startTransaction().execute()
    await sql`insert into installation_marks (mark) values ('lost')`.execute(held)
    await close()
    await expect(sql`select 1`.execute(held)).rejects.toMatchObject(UNREACHABLE)
    expect((await sql`select from installation_marks`.execute(test.db)).rows).toEqual([])
  })
})

describe.runIf(inject('databaseTemplate').kind === 'server')('when the database could only be read for a while', () => {
  const mark = (db: Db) => sql`insert into installation_marks (mark) values ('written')`.execute(db)
  const READ_ONLY = { code: 'unavailable', message: 'The database can only be read. Try again.' }

  /** Three connections of that time; by now it takes changes again. */
  async function after() {
    const url = await currentUrl()
    const name = sql.id(url.pathname.slice(1))
    const set = (to: 'on' | 'off') =>
      sql`alter database ${name} set default_transaction_read_only = ${sql.lit(to)}`.execute(test.db)
    const database = openServer({ url: url.href, applicationName: 'then', maxConnections: 3 })
    onTestFinished(async () => {
      await database.close()
      await sql`delete from installation_marks`.execute(test.db)
    })
    await set('on')
    try {
      const held = await Promise.all([1, 2, 3].map(() => database.db.startTransaction().execute()))
      for (const transaction of held) await transaction.rollback().execute()
    } finally {
      await set('off')
    }
    return database
  }

  it('one change is refused over a connection of then, and none after it over the others', async () => {
    const { db } = await after()
    await expect(mark(db)).rejects.toMatchObject(READ_ONLY)
    await db.transaction().execute((tx) => mark(tx))
    expect((await sql`select from installation_marks`.execute(test.db)).rows).toHaveLength(1)
  })

  it('that counts as away until it was asked once', async () => {
    const database = await after()
    await expect(database.pingPrimary(10_000)).rejects.toMatchObject(READ_ONLY)
    await database.pingPrimary(10_000)
    await mark(database.db)
  })
})

describe.runIf(inject('databaseTemplate').kind === 'server')('a statement without a limit', () => {
  it('is given up by the server within seconds of the end of its process, with what it has locked', async () => {
    const url = await currentUrl()
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    onTestFinished(() => proxy.close())
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    const database = openServer({ url: url.href, applicationName: 'test' })
    onTestFinished(() => database.close())
    const building = database.withoutLimit((db) => sql`select pg_sleep(600), 'an index'`.execute(db))
    const refused = expect(building).rejects.toMatchObject(UNREACHABLE)
    const isRunning = async () => {
      const { rows } = await sql`
        select from pg_stat_activity
         where query like 'select pg_sleep(600)%' and state = 'active' and pid <> pg_backend_pid()`.execute(test.db)
      return rows.length > 0
    }
    await until(isRunning, { what: 'the statement to run' })
    await proxy.cut()
    await refused
    await until(async () => !(await isRunning()), { what: 'the server to give it up' })
  })
})

describe('a statement that waits too long for a connection', () => {
  it('is unavailable, and those who hold one go on', async () => {
    const { db } = await test.anotherNode()
    const holders = test.kind === 'server' ? 10 : 1
    const held = await Promise.all(Array.from({ length: holders }, () => db.startTransaction().execute()))
    await expect(sql`select 1`.execute(db)).rejects.toMatchObject({ code: 'unavailable' })
    for (const transaction of held) await sql`select 1`.execute(transaction)
    for (const transaction of held) await transaction.rollback().execute()
    expect(await backend(db)).toBeGreaterThan(0)
  })
})

describe.runIf(inject('databaseTemplate').kind === 'server')(
  'when the process stands still for longer than it waits for a connection',
  () => {
    it('what was asked before is answered all the same', async () => {
      const database = openServer({
        url: (await currentUrl()).href,
        applicationName: 'stands still',
        maxConnections: 2,
      })
      onTestFinished(() => database.close())
      // More than there are connections: some wait for one that is made, others for their turn.
      const asked = Array.from({ length: 8 }, (_, n) => sql<{ n: number }>`select ${n}::int4 as n`.execute(database.db))
      await othersFirst()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDS_STILL_MS)
      const answers = await Promise.all(asked)
      expect(answers.map(({ rows }) => rows[0]?.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    })
  },
)

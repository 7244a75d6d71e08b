import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, inject } from 'vitest'
import type { Database, Db } from '../../src/platform/db/schema.ts'
import { type LentDatabase, lendDatabase, takeBack } from './spare-database.ts'
import type { Template } from './template.ts'
import { until } from './wait.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseTemplate: Template
  }
}

/** Reading a member before the first `beforeAll` has run throws. */
export type TestDatabase = {
  readonly database: Database
  readonly db: Db
  readonly kind: Database['kind']
  /** A handle as another node of the same installation has; the embedded database has one node, so there it is the same. */
  anotherNode(): Promise<Database>
  /** The settings with which the whole program runs on this database; on the embedded one only once it is closed. */
  readonly settings: Record<string, string>
}

type Opened = LentDatabase & { others: Set<Database> }

type DatabaseOptions = {
  /** The tables are emptied before the first test alone: for tests that look at what one `beforeAll` has filled, which takes long. */
  isFilledOnce?: boolean
  /**
   * No other file has had it: for tests that count the blocks which a query reads. Rows that others have deleted leave gaps, over
   * which a table is spread.
   */
  isNew?: boolean
}

/**
 * Gives a test file a migrated database of its own, whose tables are empty before each test, if not said otherwise. The file
 * runs twice: on the embedded database and on a server. It fails when it leaves a transaction open.
 */
export function useDatabase({ isFilledOnce = false, isNew = false }: DatabaseOptions = {}): TestDatabase {
  let opened: Opened | undefined
  const current = (): Opened => {
    if (!opened) throw new Error('the database is open only while tests run')
    return opened
  }
  beforeAll(async () => {
    opened = { ...(await lendDatabase(inject('databaseTemplate'), isNew)), others: new Set() }
  })
  const empty = () => emptyTables(current().database.db)
  if (isFilledOnce) beforeAll(empty)
  else beforeEach(empty)
  afterAll(async () => {
    const { others, ...lent } = current()
    opened = undefined
    const leaked = await hasOpenTransaction(lent.database)
    for (const each of others) await each.close()
    if (!leaked) return takeBack(lent)
    await lent.database.close()
    await lent.copy.remove()
    throw new Error('a test of this file left a transaction open')
  })
  return {
    get database() {
      return current().database
    },
    get db() {
      return current().database.db
    },
    get kind() {
      return current().database.kind
    },
    get settings() {
      return current().copy.settings
    },
    async anotherNode() {
      const { copy, database, others } = current()
      const other = await copy.open()
      if (other !== database) others.add(other)
      return other
    },
  }
}

/** On a machine that is busy with other tests; a transaction that was left open would stay so. */
const SETTLE_TIMEOUT_MS = 10_000

/**
 * In one statement, for it runs before each test. Most tables have no file to look into; and to delete the few rows of a test is far
 * faster than to truncate.
 */
const EMPTY_TABLES = `
  do $$
  declare used text;
  begin
    -- What refers to what is gone with the rest.
    perform set_config('session_replication_role', 'replica', true);
    for used in
      select format('%I.%I', relnamespace::regnamespace, relname) from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'
         and pg_relation_size(oid) > 0
    loop
      execute 'delete from ' || used;
    end loop;
  end $$`

async function emptyTables(db: Db): Promise<void> {
  await sql.raw(EMPTY_TABLES).execute(db)
}

/** Those of a server may take a moment to end after their client has said so. */
async function hasOpenTransaction({ db, kind, ping }: Database): Promise<boolean> {
  // A transaction on the embedded database owns its only connection.
  const settled =
    kind === 'embedded'
      ? ping(SETTLE_TIMEOUT_MS)
      : until(async () => (await openTransactions(db)) === 0, {
          what: 'the end of every transaction',
          timeoutMs: SETTLE_TIMEOUT_MS,
        })
  return settled.then(
    () => false,
    () => true,
  )
}

async function openTransactions(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`.execute(db)
  return rows[0]?.count ?? 0
}

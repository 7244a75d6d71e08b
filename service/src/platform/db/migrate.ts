import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { CompiledQuery, sql } from 'kysely'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import type { Log } from '../log.ts'
import { isLockTimeout, isLostToAnother } from './errors.ts'
import type { Db, Tx } from './schema.ts'

type Migration = { name: string; text: string; checksum: string }

/** Any constant will do that nothing else locks: it spells "parley". Whoever changes the schema has it, or looks whether it was changed. */
const LOCK_ID = 0x7061726c6579
/** Whose turn it is to apply a file, also while others go first: who has none to apply asks for no turn. */
const TURN_ID = LOCK_ID + 1

/** As many as four digits can name. */
const MAX_MIGRATIONS = 10_000

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/

/**
 * Whoever comes behind a file that waits for a table waits with it, even who only reads: after this it gives up its place. Longer than the
 * second after which PostgreSQL ends a vacuum of its own that holds somebody up.
 */
const IN_LINE_MS = 3_000
/** For those who waited behind it; then it tries again, for as long as it takes. */
const OTHERS_FIRST_MS = 10_000

/** What the statements of a file cannot say, by its name without `.sql`: done behind them, in their transaction. */
export type MigrationSteps = Readonly<Record<string, (tx: Tx) => Promise<void>>>

type Options = { steps?: MigrationSteps; clock?: Pick<Clock, 'after'> }

/**
 * Brings the schema up to date: runs the files `NNNN_name.sql` of the folder that have not run yet, in their order, each
 * in its own transaction. Nodes that start together wait for each other, and each file runs once. A file whose tables somebody
 * else has, as a backup does for as long as it takes, lets those behind it go first, and is tried again. Migrations that we do
 * not have are left alone, so that a release runs beside the next one.
 *
 * @param folder ends in `/`.
 * @returns the names that were applied, without `.sql`.
 * @throws Error when a file was changed after it had been applied, when there is none for a step, or when one fails: then nothing of it
 * remains.
 */
export async function migrate(
  db: Db,
  folder: URL,
  log?: Pick<Log, 'info'>,
  { steps = {}, clock = systemClock }: Options = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const unknown = Object.keys(steps).find((step) => !migrations.some(({ name }) => name === step))
  if (unknown !== undefined) throw new Error(`there is no migration ${unknown}.sql for its step`)
  await db.transaction().execute(async (tx) => {
    await lock(tx, LOCK_ID)
    await createTable(tx)
  })
  const before = await appliedBefore(db)
  const applied: string[] = []
  for (const migration of migrations) {
    if (isApplied(migration, before.get(migration.name))) continue
    if (!(await applyOnce(db, migration, { steps, inItsTurn: (work) => inItsTurn({ clock, log }, migration, work) })))
      continue
    applied.push(migration.name)
    // Of a new database nobody asks how long each took.
    if (before.size > 0) log?.info({ migration: migration.name }, 'migration applied')
  }
  if (before.size === 0 && applied.length > 0) log?.info({ migrations: applied.length }, 'a new database was set up')
  const ours = new Set(migrations.map(({ name }) => name))
  const newer = [...before.keys()].filter((name) => !ours.has(name))
  if (newer.length > 0) log?.info({ migrations: newer }, 'the database is ahead: a newer release runs beside this one')
  return applied
}

/** The checksums of all that were applied, by name. */
async function appliedBefore(db: Db): Promise<Map<string, string>> {
  const names = db.selectFrom('schema_migrations').select(['name', 'checksum']).orderBy('name').limit(MAX_MIGRATIONS)
  return new Map((await names.execute()).map(({ name, checksum }) => [name, checksum]))
}

/** @throws Error when it was applied as another text. */
function isApplied({ name, checksum }: Migration, done: string | undefined): boolean {
  if (done !== undefined && done !== checksum)
    throw new Error(`migration ${name} was changed after it had been applied`)
  return done !== undefined
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => FILE_NAME.test(file)).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8')
      return { name: file.slice(0, -'.sql'.length), text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/** Tries again what somebody else held up, which is said once. */
async function inItsTurn<T>(
  { clock, log }: { clock: Pick<Clock, 'after'>; log: Pick<Log, 'info'> | undefined },
  { name }: Migration,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!wasHeldUp(error)) throw error
      if (tries === 1) log?.info({ migration: name }, 'a migration waits for who has its tables: others go first')
      await new Promise<void>((resolve) => clock.after(OTHERS_FIRST_MS, resolve))
    }
  }
}

function wasHeldUp(error: unknown): boolean {
  if (isLockTimeout(error) || isLostToAnother(error)) return true
  return error instanceof Error && wasHeldUp(error.cause)
}

async function lock(tx: Tx, id: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${id})`.execute(tx)
}

async function createTable(tx: Tx): Promise<void> {
  await sql`
    create table if not exists schema_migrations (
      name       text primary key,
      checksum   text not null,
      applied_at timestamptz(3) not null default now()
    )`.execute(tx)
}

type Applying = { steps: MigrationSteps; inItsTurn(work: () => Promise<boolean>): Promise<boolean> }

/**
 * Whether it was for us to apply: another node may have done it while we waited for the lock. It keeps the turn while others are let go
 * first: another node that starts with the same file would stand in line at once in its place.
 */
function applyOnce(db: Db, migration: Migration, { steps, inItsTurn }: Applying): Promise<boolean> {
  const { name, checksum } = migration
  const apply = async (tx: Tx) => {
    await lock(tx, LOCK_ID)
    const done = await tx.selectFrom('schema_migrations').select('checksum').where('name', '=', name).executeTakeFirst()
    if (isApplied(migration, done?.checksum)) return false
    await sql`select set_config('lock_timeout', ${String(IN_LINE_MS)}, true)`.execute(tx)
    await runFile(tx, migration, steps)
    await tx.insertInto('schema_migrations').values({ name, checksum, applied_at: sql`now()` }).execute()
    return true
  }
  return db.transaction().execute(async (tx) => {
    await lock(tx, TURN_ID)
    return inItsTurn(() => orNothing(tx, apply))
  })
}

/** Does it, or gives back what it has locked, the tables and the lock of all nodes. */
async function orNothing<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  await sql`savepoint file`.execute(tx)
  try {
    return await work(tx)
  } catch (error) {
    await sql`rollback to savepoint file`.execute(tx)
    // Else the next one stands within it: with more than 64 of them all who read have to ask which of them is over.
    await sql`release savepoint file`.execute(tx)
    throw error
  }
}

async function runFile(tx: Tx, { name, text }: Migration, steps: MigrationSteps): Promise<void> {
  try {
    await tx.executeQuery(CompiledQuery.raw(text))
    await steps[name]?.(tx)
  } catch (error) {
    throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

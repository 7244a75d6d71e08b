import { sql } from 'kysely'
import { systemClock, withTimeout } from '../../kernel/clock.ts'
import { readOnly, unreachable } from './errors.ts'
import type { FullDisk } from './full-disk.ts'
import type { Db } from './schema.ts'

/** Resolves when the database answers. @throws AppError `unavailable` when it does not within `timeoutMs`. */
export async function ping(db: Db, timeoutMs: number): Promise<void> {
  await withTimeout(systemClock, sql`select 1`.execute(db), timeoutMs, () => unreachable())
}

type Primary = { db: Db; disk: FullDisk }

/**
 * Resolves when the database answers that it takes changes. One that is not the primary, and one whose disk is
 * full, answer everything that only reads.
 *
 * @throws AppError `unavailable` when it takes none, or does not answer within `timeoutMs`.
 */
export async function pingPrimary(primary: Primary, timeoutMs: number): Promise<void> {
  await withTimeout(systemClock, expectPrimary(primary), timeoutMs, () => unreachable())
}

async function expectPrimary({ db, disk }: Primary): Promise<void> {
  await db.connection().execute(expectWritable)
  await disk.expectRoom(db)
}

/** Tries a change where none is taken, for which the pool lets go of the connection: a new one may take it. */
async function expectWritable(db: Db): Promise<void> {
  const { rows } = await IS_READ_ONLY.execute(db)
  if (!rows[0]?.is_read_only) return
  await CHANGE_NOTHING.execute(db)
  throw readOnly()
}

const IS_READ_ONLY = sql<{ is_read_only: boolean }>`
  select current_setting('transaction_read_only')::boolean or pg_is_in_recovery() as is_read_only`

const CHANGE_NOTHING = sql`drop table if exists a_table_that_is_not_there`

import { sql } from 'kysely'
import { takeLock } from '../platform/db/advisory-locks.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    installation_marks: { mark: string }
  }
}

/** Whether this installation has done once what `mark` stands for. Across tenants: it belongs to none. */
export async function hasMark(db: Db, mark: string): Promise<boolean> {
  const row = await db.selectFrom('installation_marks').select('mark').where('mark', '=', mark).executeTakeFirst()
  return row !== undefined
}

/** Whether there is a mark that begins with `prefix`. */
export async function hasMarkOf(db: Db, prefix: string): Promise<boolean> {
  return (await findMarkOf(db, prefix)) !== undefined
}

function findMarkOf(db: Db, prefix: string) {
  return db
    .selectFrom('installation_marks')
    .select('mark')
    .where(sql<boolean>`starts_with(mark, ${prefix})`)
    .executeTakeFirst()
}

/** Notes that it is done. Repeating it changes nothing. */
export async function setMark(db: Db, mark: string): Promise<void> {
  await db
    .insertInto('installation_marks')
    .values({ mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Sets `mark` unless one that begins with `prefix` is there, and returns the one that is: of several nodes that start at
 * once all get the same.
 */
export async function setFirstMark(tx: Tx, prefix: string, mark: string): Promise<string> {
  await takeLock(tx, 'installationMark', prefix)
  const row = await findMarkOf(tx, prefix)
  if (!row) await setMark(tx, mark)
  return row?.mark ?? mark
}

/** Sets `mark` in place of those that begin with `prefix`. */
export async function replaceMark(tx: Tx, prefix: string, mark: string): Promise<void> {
  await takeLock(tx, 'installationMark', prefix)
  await tx
    .deleteFrom('installation_marks')
    .where(sql<boolean>`starts_with(mark, ${prefix})`)
    .where('mark', '<>', mark)
    .execute()
  await setMark(tx, mark)
}

import type { Db } from '../platform/db/schema.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    failed_logins: { id: string; address: string; at: Date }
  }
}

type Attempt = { id: string; address: string; at: Date }

/** Notes an attempt, before anybody looks whether it is right, and forgets those from before `since`. */
export async function insertAttempt(db: Db, attempt: Attempt, since: Date): Promise<void> {
  await db.deleteFrom('failed_logins').where('at', '<=', since).execute()
  await db.insertInto('failed_logins').values(attempt).execute()
}

/** The attempts from the address since then that failed or are being looked at: how many, and the first of them. */
export async function countAttempts(
  db: Db,
  address: string,
  since: Date,
): Promise<{ count: number; first: Date | null }> {
  const { count, first } = await db
    .selectFrom('failed_logins')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('at').as('first')])
    .where('address', '=', address)
    .where('at', '>', since)
    .executeTakeFirstOrThrow()
  return { count: Number(count), first }
}

/** Takes back an attempt that did not fail, or was not looked at. */
export async function removeAttempt(db: Db, id: string): Promise<void> {
  await db.deleteFrom('failed_logins').where('id', '=', id).execute()
}

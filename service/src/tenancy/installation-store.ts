import type { Db } from '../platform/db/schema.ts'

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

/** Notes that it is done. Repeating it changes nothing. */
export async function setMark(db: Db, mark: string): Promise<void> {
  await db
    .insertInto('installation_marks')
    .values({ mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

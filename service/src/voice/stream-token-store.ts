import { sql } from 'kysely'
import type { Db } from '../platform/db/schema.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    spent_stream_tokens: { jti: string; expires_at: Date }
  }
}

/** What names a token, over all tenants, and until when it is one. */
export type SpentToken = { jti: string; expiresAt: Date }

/** More rows than a minute's calls leave; what remains goes next time. */
const SWEEP_LIMIT_ROWS = 10_000

/** Notes that the token is used. Of any number of callers, on any node, exactly one is told true. */
export async function spendToken(db: Db, { jti, expiresAt }: SpentToken): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('spent_stream_tokens')
    .values({ jti, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('jti').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Forgets the tokens that ended before `before`, 10,000 at most; those that another node is forgetting are left to it. */
export async function forgetTokens(db: Db, before: Date): Promise<void> {
  await sql`
    delete from spent_stream_tokens
     where jti in (select jti from spent_stream_tokens
                    where expires_at < ${before} order by expires_at
                    limit ${SWEEP_LIMIT_ROWS} for update skip locked)`.execute(db)
}

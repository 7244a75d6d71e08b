import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    call_resumes: { call_sid: string; tenant_id: TenantId; times: number; since: Date; promised_at: Date | null }
  }
}

/** More often than this within so long, and nothing is gained by another try. */
const WINDOW_MS = 60_000
/** A stream that was promised and has not come by then will not. */
export const PROMISE_MS = 15_000

/**
 * Notes that the carrier was promised another stream for the call. To be called with `lockCall`.
 *
 * @returns how often it was so within a minute or so.
 */
export async function notePromise(tx: Tx, tenantId: TenantId, callSid: string, now: Date): Promise<number> {
  const start = new Date(now.getTime() - WINDOW_MS)
  const { times } = await tx
    .insertInto('call_resumes')
    .values({ call_sid: callSid, tenant_id: tenantId, times: 1, since: now, promised_at: now })
    .onConflict((conflict) =>
      conflict.column('call_sid').doUpdateSet({
        times: sql<number>`case when call_resumes.since < ${start} then 1 else call_resumes.times + 1 end`,
        since: sql<Date>`case when call_resumes.since < ${start} then ${now} else call_resumes.since end`,
        promised_at: now,
      }),
    )
    .returning('times')
    .executeTakeFirstOrThrow()
  return times
}

/** The stream that was promised has come. To be called with `lockCall`. */
export async function keepPromise(tx: Tx, tenantId: TenantId, callSid: string): Promise<void> {
  await tx
    .updateTable('call_resumes')
    .set({ promised_at: null })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .execute()
}

/** Whether another stream of the call is on its way. */
export async function isStreamPromised(db: Db, tenantId: TenantId, callSid: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('call_resumes')
    .select('promised_at')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .executeTakeFirst()
  return row?.promised_at != null && row.promised_at.getTime() > now.getTime() - PROMISE_MS
}

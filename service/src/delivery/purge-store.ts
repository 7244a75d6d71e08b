import { sql } from 'kysely'
import type { Db } from '../platform/db/schema.ts'
import type { OutboxTable } from './outbox-store.ts'

/** Deletes rows that were delivered before an instant, `limit` at most; what could not be delivered stays. @returns how many. */
export async function purgeDeliveredAcrossTenants(
  db: Db,
  table: OutboxTable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)}
     where (tenant_id, id) in (select tenant_id, id from ${sql.table(table)}
                                where status = 'delivered' and delivered_at < ${before}
                                order by delivered_at limit ${limit} for update skip locked)`.execute(db)
  return Number(numAffectedRows)
}

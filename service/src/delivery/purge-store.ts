import { sql } from 'kysely'
import type { Db } from '../platform/db/schema.ts'
import { OUTBOX_TABLES } from './outbox-store.ts'

/** Deletes rows that were delivered before an instant, so many of each table; what could not be delivered stays. */
export async function purgeDeliveredAcrossTenants(db: Db, before: Date, limit: number): Promise<void> {
  for (const table of OUTBOX_TABLES) {
    await sql`
      delete from ${sql.table(table)}
       where (tenant_id, id) in (select tenant_id, id from ${sql.table(table)}
                                  where status = 'delivered' and delivered_at < ${before}
                                  order by delivered_at limit ${limit} for update skip locked)`.execute(db)
  }
}

import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

export type DncEntryId = string & { readonly __brand: 'DncEntryId' }

/** A number that the tenant must not call. */
export type DncEntryRow = {
  tenant_id: TenantId
  id: DncEntryId
  phone: PhoneNumber
  reason: string | null
  /** Where it comes from, in the words of whoever listed it. */
  source: string | null
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    do_not_call: DncEntryRow
  }
}

/**
 * Lists a number. One that is listed already keeps its id and its instant; what `entry` says of it, other than null, counts.
 */
export async function upsertDncEntry(
  tx: Tx,
  tenantId: TenantId,
  entry: Omit<DncEntryRow, 'tenant_id'>,
): Promise<DncEntryRow> {
  return tx
    .insertInto('do_not_call')
    .values({ ...entry, tenant_id: tenantId })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'phone']).doUpdateSet({
        reason: sql`coalesce(excluded.reason, do_not_call.reason)`,
        source: sql`coalesce(excluded.source, do_not_call.source)`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The entry of a number, as it was given; null when the tenant has not listed it. */
export async function findDncEntry(db: Db, tenantId: TenantId, phone: string): Promise<DncEntryRow | null> {
  const row = await db
    .selectFrom('do_not_call')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('phone', '=', phone as PhoneNumber)
    .executeTakeFirst()
  return row ?? null
}

/** Whether the tenant has listed a number, by any of its spellings; with `by`, at that instant or before. */
export async function isListed(
  db: Db,
  tenantId: TenantId,
  spellings: readonly string[],
  { by }: { by?: Date } = {},
): Promise<boolean> {
  const row = await db
    .selectFrom('do_not_call')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('phone', 'in', spellings as PhoneNumber[])
    .$if(by !== undefined, (query) => query.where('created_at', '<=', by ?? null))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The tenant's entries, newest first; one more than `limit`, to tell whether there are more. */
export async function listDncEntries(db: Db, tenantId: TenantId, page: PageRequest): Promise<DncEntryRow[]> {
  return db
    .selectFrom('do_not_call')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$call(newestFirst('do_not_call', page))
    .execute()
}

/** Takes a number off the list and returns its entry; null when it is not on it. */
export async function deleteDncEntry(tx: Tx, tenantId: TenantId, phone: string): Promise<DncEntryRow | null> {
  const row = await tx
    .deleteFrom('do_not_call')
    .where('tenant_id', '=', tenantId)
    .where('phone', '=', phone as PhoneNumber)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** Lists numbers, each once; returns the entries of those that were not listed. */
export async function insertDncEntries(
  tx: Tx,
  tenantId: TenantId,
  entries: Omit<DncEntryRow, 'tenant_id'>[],
): Promise<DncEntryRow[]> {
  // In their order, so that of two who list the same ones neither waits for the other for ever.
  const inOrder = entries.toSorted((a, b) => (a.phone < b.phone ? -1 : 1))
  return tx
    .insertInto('do_not_call')
    .values(inOrder.map((entry) => ({ ...entry, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.columns(['tenant_id', 'phone']).doNothing())
    .returningAll()
    .execute()
}

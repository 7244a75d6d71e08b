import { type SqlBool, sql } from 'kysely'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { DncEntryId, DncEntryRow } from './do-not-call-store.ts'

/** A number as a tenant has listed it. */
export type ListedNumber = Pick<DncEntryRow, 'tenant_id' | 'id' | 'phone' | 'created_at'>

/** Numbers that are listed, by tenant and id, after one of them. Over all tenants. */
export function listNumbersAcrossTenants(
  tx: Tx,
  { after, limit }: { after: ListedNumber | null; limit: number },
): Promise<ListedNumber[]> {
  const behind = after ? sql<SqlBool>`(tenant_id, id) > (${after.tenant_id}, ${after.id}::uuid)` : sql<SqlBool>`true`
  return tx
    .selectFrom('do_not_call')
    .select(['tenant_id', 'id', 'phone', 'created_at'])
    .where(behind)
    .orderBy('tenant_id')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Lists the numbers of entries in another spelling as well, each for its tenant; an entry that is gone meanwhile has none. */
export async function insertSpellings(
  tx: Tx,
  spellings: (Pick<ListedNumber, 'tenant_id' | 'id'> & { newId: DncEntryId; phone: PhoneNumber })[],
): Promise<void> {
  await sql`
    insert into do_not_call (tenant_id, id, phone, reason, source, created_at)
    select entry.tenant_id, spelling."newId", spelling.phone, entry.reason, entry.source, entry.created_at
      from jsonb_to_recordset(${JSON.stringify(spellings)}::jsonb)
           as spelling (tenant_id text, id uuid, "newId" uuid, phone text)
      join do_not_call entry on entry.tenant_id = spelling.tenant_id and entry.id = spelling.id
       for key share of entry
        on conflict (tenant_id, phone) do nothing`.execute(tx)
}

import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { RequestKey } from '../../kernel/request-key.ts'
import type { Db, Tx } from './schema.ts'

/** A table of keys by which requests may be repeated, and its column of what a key was taken for. */
export type KeyTable = { table: string; made: string }

/**
 * Takes a key for what this transaction is about to make; false when it was taken after `freeBefore`. Of several at once one is told
 * true, and the others wait for what becomes of it.
 */
export async function takeKey(
  tx: Tx,
  { table, made }: KeyTable,
  tenantId: TenantId,
  { key, bodyHash, madeId, now, freeBefore }: RequestKey & { madeId: string; now: Date; freeBefore: Date },
): Promise<boolean> {
  const column = sql.ref(made)
  const { rows } = await sql<{ key: string }>`
    insert into ${sql.table(table)} as known (tenant_id, key, body_hash, ${column}, created_at)
    values (${tenantId}, ${key}, ${bodyHash}, ${madeId}, ${now})
        on conflict (tenant_id, key) do update
       set body_hash = excluded.body_hash, ${column} = excluded.${column}, created_at = excluded.created_at
     where known.created_at <= ${freeBefore}
    returning key`.execute(tx)
  return rows.length > 0
}

const FORGET_ROWS = 10_000

/** Forgets keys that are free again, 10,000 at most. Over all tenants. */
export async function forgetKeysAcrossTenants(db: Db, { table }: KeyTable, freeBefore: Date): Promise<void> {
  const name = sql.table(table)
  await sql`
    delete from ${name}
     where created_at <= ${freeBefore}
       and (tenant_id, key) in (select tenant_id, key from ${name} where created_at <= ${freeBefore} limit ${FORGET_ROWS})`.execute(
    db,
  )
}

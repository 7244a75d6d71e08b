import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type IdempotencyKeyRow = {
  tenant_id: TenantId
  key: string
  /** SHA-256 of the canonical body: another body under the same key is a mistake. */
  body_hash: Buffer
  dial_ref: string
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    idempotency_keys: IdempotencyKeyRow
  }
}

/** A key that is taken, and what for. */
export type TakenKey = Pick<IdempotencyKeyRow, 'body_hash' | 'dial_ref'>

/**
 * Takes a key for a dial of this transaction; false when it was taken after `freeBefore`. Of several at once one is told
 * true, and the others wait for what becomes of it.
 */
export async function takeKey(
  tx: Tx,
  tenantId: TenantId,
  taken: Omit<IdempotencyKeyRow, 'tenant_id'>,
  freeBefore: Date,
): Promise<boolean> {
  const { rows } = await sql<{ key: string }>`
    insert into idempotency_keys as known (tenant_id, key, body_hash, dial_ref, created_at)
    values (${tenantId}, ${taken.key}, ${taken.body_hash}, ${taken.dial_ref}, ${taken.created_at})
        on conflict (tenant_id, key) do update
       set body_hash = excluded.body_hash, dial_ref = excluded.dial_ref, created_at = excluded.created_at
     where known.created_at <= ${freeBefore}
    returning key`.execute(tx)
  return rows.length > 0
}

/** Gives back the key of a dial, if it had one: the next request with it is a first one. */
export async function freeKeyOf(tx: Tx, tenantId: TenantId, dialRef: string): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('tenant_id', '=', tenantId).where('dial_ref', '=', dialRef).execute()
}

/** What the key was taken for after `freeBefore`, or null. */
export async function findKey(db: Db, tenantId: TenantId, key: string, freeBefore: Date): Promise<TakenKey | null> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'dial_ref'])
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .where('created_at', '>', freeBefore)
    .executeTakeFirst()
  return row ?? null
}

const FORGET_ROWS = 10_000

/** Forgets keys that are free again, 10,000 at most. Over all tenants. */
export async function forgetKeysAcrossTenants(db: Db, freeBefore: Date): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('created_at', '<=', freeBefore)
    .where((eb) =>
      eb(
        eb.refTuple('tenant_id', 'key'),
        'in',
        eb
          .selectFrom('idempotency_keys')
          .select(['tenant_id', 'key'])
          .where('created_at', '<=', freeBefore)
          .limit(FORGET_ROWS)
          .$asTuple('tenant_id', 'key'),
      ),
    )
    .execute()
}

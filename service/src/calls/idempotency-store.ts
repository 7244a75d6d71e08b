import type { TenantId } from '../kernel/ids.ts'
import type { KeyTable } from '../platform/db/request-keys.ts'
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

/** Of keys by which requests for calls may be repeated. */
export const DIAL_KEYS: KeyTable = { table: 'idempotency_keys', made: 'dial_ref' }

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

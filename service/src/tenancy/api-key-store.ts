import type { ApiKeyId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type ApiKeyRow = {
  tenant_id: TenantId
  id: ApiKeyId
  key_prefix: string
  label: string
  secret_hash: Buffer
  created_at: Date
  last_used_at: Date | null
  revoked_at: Date | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    api_keys: ApiKeyRow
    api_key_prefixes: { key_prefix: string; tenant_id: TenantId; key_id: ApiKeyId }
  }
}

/** A key as it may be shown: without its hash. */
export type ApiKeyRecord = Omit<ApiKeyRow, 'tenant_id' | 'secret_hash'>

const RECORD = ['id', 'key_prefix', 'label', 'created_at', 'last_used_at', 'revoked_at'] as const

/** The tenant's keys, newest first, revoked ones too; one more than `limit`, to tell whether there are more. */
export async function listApiKeys(db: Db, tenantId: TenantId, page: PageRequest): Promise<ApiKeyRecord[]> {
  return db
    .selectFrom('api_keys')
    .select(RECORD)
    .where('tenant_id', '=', tenantId)
    .$call(newestFirst('api_keys', page))
    .execute()
}

/**
 * Takes a prefix for a key of the tenant, over all tenants.
 *
 * @returns false when it is taken: try another.
 */
export async function claimKeyPrefix(
  tx: Tx,
  tenantId: TenantId,
  key: { id: ApiKeyId; key_prefix: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('api_key_prefixes')
    .values({ key_prefix: key.key_prefix, tenant_id: tenantId, key_id: key.id })
    .onConflict((conflict) => conflict.column('key_prefix').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Adds a key, whose prefix has been claimed in the same transaction. */
export async function insertApiKey(
  tx: Tx,
  tenantId: TenantId,
  key: Omit<ApiKeyRow, 'tenant_id' | 'last_used_at' | 'revoked_at'>,
): Promise<ApiKeyRecord> {
  return tx
    .insertInto('api_keys')
    .values({ ...key, tenant_id: tenantId, last_used_at: null, revoked_at: null })
    .returning(RECORD)
    .executeTakeFirstOrThrow()
}

/** The key, which stays as it is until the transaction ends; null when the tenant has no such key. */
export async function lockApiKey(tx: Tx, tenantId: TenantId, keyId: ApiKeyId): Promise<ApiKeyRecord | null> {
  const row = await tx
    .selectFrom('api_keys')
    .select(RECORD)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Revokes the key. To be called with `lockApiKey`. */
export async function revokeApiKey(tx: Tx, tenantId: TenantId, keyId: ApiKeyId, at: Date): Promise<ApiKeyRecord> {
  return tx
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', keyId)
    .returning(RECORD)
    .executeTakeFirstOrThrow()
}

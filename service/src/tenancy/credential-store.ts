import type { ApiKeyId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

/** What proves an API key, and whether it still may be used. */
type StoredCredential = {
  tenantId: TenantId
  keyId: ApiKeyId
  secretHash: Buffer
  lastUsedAt: Date | null
  revokedAt: Date | null
}

/** The key of this prefix, whoever's it is, or null. */
export async function findApiKeyAcrossTenants(db: Db, keyPrefix: string): Promise<StoredCredential | null> {
  const row = await db
    .selectFrom('api_key_prefixes as prefix')
    .innerJoin('api_keys as key', (join) =>
      join.onRef('key.tenant_id', '=', 'prefix.tenant_id').onRef('key.id', '=', 'prefix.key_id'),
    )
    .select(['key.tenant_id as tenantId', 'key.id as keyId', 'key.secret_hash as secretHash'])
    .select(['key.last_used_at as lastUsedAt', 'key.revoked_at as revokedAt'])
    .where('prefix.key_prefix', '=', keyPrefix)
    .executeTakeFirst()
  return row ?? null
}

/** The tenant whose legacy bearer token has this SHA-256, or null. */
export async function findLegacyTokenAcrossTenants(db: Db, tokenHash: Buffer): Promise<TenantId | null> {
  const row = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where('auth_token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}

/** The SHA-256 of the tenant's legacy bearer token, or null. */
export async function findLegacyTokenHash(db: Db, tenantId: TenantId): Promise<Buffer | null> {
  const row = await db
    .selectFrom('tenants')
    .select('auth_token_hash')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst()
  return row?.auth_token_hash ?? null
}

/** Notes that the key was used at `at`, unless it was used after `since` already (by another node, say). */
export async function noteKeyUsed(
  db: Db,
  tenantId: TenantId,
  keyId: ApiKeyId,
  use: { at: Date; since: Date },
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: use.at })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', keyId)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', use.since)]))
    .execute()
}

import { systemClock } from '../../src/kernel/clock.ts'
import type { TenantId } from '../../src/kernel/ids.ts'
import type { Db } from '../../src/platform/db/schema.ts'

/** Stores a tenant with an empty document, as the owner of what a test makes. */
export async function makeTenant(db: Db, id: string, authTokenHash: Buffer | null = null): Promise<TenantId> {
  const tenantId = id as TenantId
  const now = new Date(systemClock.now())
  await db
    .insertInto('tenants')
    .values({
      tenant_id: tenantId,
      document: JSON.stringify({ tenant_id: id }),
      etag: `"${id}"`,
      auth_token_hash: authTokenHash,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return tenantId
}

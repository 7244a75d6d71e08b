import { type ColumnType, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { takeLock } from '../platform/db/advisory-locks.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { TenantDocument } from './tenant-document.ts'

type TenantRow = {
  tenant_id: TenantId
  /** Its secrets are sealed in place. Written as JSON text. */
  document: ColumnType<TenantDocument, string, string>
  etag: string
  auth_token_hash: Buffer | null
  created_at: ColumnType<Date, Date, never>
  updated_at: Date
  /** Set while rows are left of a tenant that was deleted: to all but to who deletes them there is no such tenant. */
  deleted_at: ColumnType<Date | null, never, Date>
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    tenants: TenantRow
  }
}

/** A tenant as it is stored: the document with its secrets sealed, and the ETag of the document with its secrets open. */
export type StoredTenant = { document: TenantDocument; etag: string }

/** What a write of a tenant stores. */
export type TenantWrite = StoredTenant & { authTokenHash: Buffer | null; now: Date }

/** A row of the list over all tenants. */
export type ListedTenant = StoredTenant & { tenant_id: TenantId; created_at: Date }

/** The index that keeps a legacy token from belonging to two tenants. */
export const AUTH_TOKEN_INDEX = 'tenants_auth_token'

/**
 * Makes this transaction the only one that writes this tenant until it ends, also when the tenant does not exist yet.
 */
export async function lockTenant(tx: Tx, tenantId: TenantId): Promise<void> {
  await takeLock(tx, 'tenant', tenantId)
}

/**
 * Keeps the tenant from being deleted until the transaction ends; false when there is none.
 *
 * To be asked first by a transaction that writes something of the tenant's: whoever deletes the tenant takes the tenant's
 * row first too, so neither waits for what the other holds.
 */
export async function holdTenant(tx: Tx, tenantId: TenantId): Promise<boolean> {
  const row = await tx
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

export async function findStoredTenant(db: Db, tenantId: TenantId): Promise<StoredTenant | null> {
  const row = await db
    .selectFrom('tenants')
    .select(['document', 'etag'])
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** The ETag alone: what a cache asks to know whether it is still right. */
export async function findTenantEtag(db: Db, tenantId: TenantId): Promise<string | null> {
  const row = await db
    .selectFrom('tenants')
    .select('etag')
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row?.etag ?? null
}

/** The tenants whose document sets this: an object, and not null. */
export async function listTenantsWithAcrossTenants(db: Db, member: 'ticketing' | 'missed_calls'): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where(sql<boolean>`jsonb_typeof(document -> ${member}::text) = 'object'`)
    .orderBy('tenant_id')
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** A page of tenants, newest first. */
export function listTenantsAcrossTenants(
  db: Db,
  { limit, offset, after }: PageRequest,
): Promise<FittingRows<ListedTenant>> {
  const query = newestTenants(db)
    .$if(after !== null, (tenants) =>
      tenants.where(sql<boolean>`(created_at, tenant_id) < (${after?.createdAt}, ${after?.id})`),
    )
    .limit(limit + 1)
    .offset(offset)
  return fittingRows(db, query, ['document'], limit)
}

/** The newest tenants, so many at most, however long their documents are. */
export function listNewestTenantsAcrossTenants(db: Db, limit: number): Promise<ListedTenant[]> {
  return newestTenants(db).limit(limit).execute()
}

function newestTenants(db: Db) {
  return db
    .selectFrom('tenants')
    .select(['tenant_id', 'document', 'etag', 'created_at'])
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('tenant_id', 'desc')
}

/**
 * Creates the tenant or replaces its document. To be called with `lockTenant`.
 *
 * @throws a unique violation of `AUTH_TOKEN_INDEX` when another tenant has the legacy token.
 */
export async function writeTenant(tx: Tx, tenantId: TenantId, write: TenantWrite): Promise<void> {
  const values = {
    document: JSON.stringify(write.document),
    etag: write.etag,
    auth_token_hash: write.authTokenHash,
    updated_at: write.now,
  }
  await tx
    .insertInto('tenants')
    .values({ tenant_id: tenantId, created_at: write.now, ...values })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(values))
    .execute()
}

/**
 * Takes the tenant's row for this transaction alone; false when there is none. Whoever writes something of the tenant's by
 * `holdTenant` waits, and finds it as it is then.
 */
export async function claimTenant(tx: Tx, tenantId: TenantId): Promise<boolean> {
  const row = await tx
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** By what calls, people and programs come to a tenant, and by what queues call by themselves; few rows each. */
const WAYS_IN = ['phone_routes', 'phone_numbers', 'api_key_prefixes', 'api_keys', 'tenant_users', 'operator_queues']

/** Deletes the tenant for all but for who deletes its rows (`removeTenant`). To be called with `lockTenant`, and `claimTenant`. */
export async function markDeleted(tx: Tx, tenantId: TenantId, at: Date): Promise<void> {
  for (const table of WAYS_IN) await sql`delete from ${sql.table(table)} where tenant_id = ${tenantId}`.execute(tx)
  // Nobody is called for it any more, until its rows are gone: also not by the release before this one, which takes it for one that is there.
  await sql`
    update campaigns set status = 'cancelled', updated_at = ${at}
     where tenant_id = ${tenantId} and status = 'running'`.execute(tx)
  // Without its settings for the same reason.
  const document = JSON.stringify({ tenant_id: tenantId })
  await tx
    .updateTable('tenants')
    .set({ document, etag: '"deleted"', auth_token_hash: null, updated_at: at, deleted_at: at })
    .where('tenant_id', '=', tenantId)
    .execute()
}

/** Whether the tenant is deleted, and rows of it are left. With `lockTenant` it stays so, or is gone. */
export async function isMarkedDeleted(db: Db, tenantId: TenantId): Promise<boolean> {
  const row = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/** The tenants that are deleted, and of which rows are left; first those that were deleted first. */
export async function listMarkedDeletedAcrossTenants(db: Db): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('tenant_id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .orderBy('tenant_id')
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Removes the tenant's row, and with it what is left of it, which has to be little by then. To be called with `lockTenant`. */
export async function removeTenant(tx: Tx, tenantId: TenantId): Promise<void> {
  await tx.deleteFrom('tenants').where('tenant_id', '=', tenantId).execute()
}

/** All that there are. */
export async function listTenantIdsAcrossTenants(db: Db): Promise<TenantId[]> {
  const rows = await db.selectFrom('tenants').select('tenant_id').where('deleted_at', 'is', null).execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The document with the same secrets, sealed anew: nothing else of the tenant changes. */
export async function writeSealed(tx: Tx, tenantId: TenantId, document: TenantDocument): Promise<void> {
  await tx
    .updateTable('tenants')
    .set({ document: JSON.stringify(document) })
    .where('tenant_id', '=', tenantId)
    .execute()
}

import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from './tenant-runtime.ts'
import { findTenantEtag, holdTenant } from './tenant-store.ts'

/**
 * To be asked by a list that found nothing: whether there is a tenant at all that it could belong to.
 *
 * @throws AppError `not_found` when there is none.
 */
export async function expectTenant(db: Db, tenantId: TenantId): Promise<void> {
  if ((await findTenantEtag(db, tenantId)) === null) throw unknownTenant()
}

/**
 * Keeps the tenant from being deleted until the transaction ends; see `holdTenant`.
 *
 * @throws AppError `not_found` when there is none.
 */
export async function holdKnownTenant(tx: Tx, tenantId: TenantId): Promise<void> {
  if (!(await holdTenant(tx, tenantId))) throw unknownTenant()
}

/**
 * The tenant as this process knows it. To be asked for before a transaction: the embedded database has one
 * connection, which that would own.
 *
 * @throws AppError `not_found` when there is none.
 */
export async function knownTenant(
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> },
  tenantId: TenantId,
): Promise<TenantRuntime> {
  const tenant = await tenants.get(tenantId)
  if (!tenant) throw unknownTenant()
  return tenant
}

/** What whoever asks for a tenant that is not there is told. */
export function unknownTenant(): AppError {
  return new AppError('not_found', 'There is no such tenant.')
}

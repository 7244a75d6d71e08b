import type { Actor } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Tenants } from './tenants.ts'

/** What there is to know and do of a tenant's calls, on all nodes, when it is to be deleted. */
export type TenantCalls = {
  /** How many are not over. */
  count(db: Db, tenantId: TenantId): Promise<number>
  /** Ends them. Resolves when they are over, or after ten seconds. @throws AppError `unavailable`. */
  end(tenantId: TenantId): Promise<void>
}

type Deps = { tenants: Pick<Tenants, 'get' | 'remove'>; calls: TenantCalls }

/**
 * Deletes a tenant that has no live calls; with `force` it ends those that there are, and deletes it.
 *
 * @throws AppError `not_found`; `conflict` for a tenant with live calls; `unavailable` when they cannot be reached.
 */
export async function removeTenant(
  { tenants, calls }: Deps,
  tenantId: TenantId,
  { force, by }: { force: boolean; by: Actor },
): Promise<void> {
  if (force) {
    await tenants.get(tenantId)
    await calls.end(tenantId)
    return tenants.remove(tenantId, by)
  }
  return tenants.remove(tenantId, by, async (tx) => {
    const count = await calls.count(tx, tenantId)
    if (count === 0) return
    const many = count === 1 ? 'a live call' : `${count} live calls`
    throw new AppError('conflict', `The tenant has ${many}: wait for the end, or delete it with ?force=true.`)
  })
}

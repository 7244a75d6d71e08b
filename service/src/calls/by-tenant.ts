import type { TenantId } from '../kernel/ids.ts'
import { inLanes } from '../kernel/in-lanes.ts'

/**
 * Does the work for each item: all tenants at once, of one tenant at most `atOnce` at a time, in their order. So a tenant whose
 * carrier does not answer holds up no other one. Rejects with the first error of a work.
 */
export async function forEachByTenant<Item extends { tenantId: TenantId }>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const byTenant = Map.groupBy(items, ({ tenantId }) => tenantId)
  await Promise.all([...byTenant.values()].map((ofTenant) => inLanes(ofTenant, atOnce, work)))
}

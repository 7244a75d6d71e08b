import type { PhoneRouteId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

/** Which agent answers a number of the tenant's, and whether the tenant's outbound calls come from it. */
export type PhoneRouteRow = {
  tenant_id: TenantId
  id: PhoneRouteId
  phone_number: PhoneNumber
  agent_key: string
  label: string
  inbound_enabled: boolean
  /** At most one route of a tenant is. */
  outbound_default: boolean
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    phone_routes: PhoneRouteRow
  }
}

/** What the writer of a route decides. */
export type PhoneRouteFields = Omit<PhoneRouteRow, 'tenant_id' | 'id' | 'created_at' | 'updated_at'>

/** The rule that a tenant has one route of a number. */
export const ROUTE_NUMBER_CONSTRAINT = 'phone_routes_tenant_id_phone_number_key'

/** The tenant's routes, newest first; one more than `limit`, to tell whether there are more. */
export async function listPhoneRoutes(db: Db, tenantId: TenantId, page: PageRequest): Promise<PhoneRouteRow[]> {
  return db
    .selectFrom('phone_routes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$call(newestFirst('phone_routes', page))
    .execute()
}

/** The route, kept from changing until the transaction ends; null when the tenant has none of this id. */
export async function lockPhoneRoute(tx: Tx, tenantId: TenantId, routeId: PhoneRouteId): Promise<PhoneRouteRow | null> {
  const row = await tx
    .selectFrom('phone_routes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', routeId)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** @throws a unique violation of `ROUTE_NUMBER_CONSTRAINT` when another route of the tenant has the number. */
export async function insertPhoneRoute(
  tx: Tx,
  tenantId: TenantId,
  route: Omit<PhoneRouteRow, 'tenant_id'>,
): Promise<PhoneRouteRow> {
  return tx
    .insertInto('phone_routes')
    .values({ ...route, tenant_id: tenantId })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** @throws a unique violation of `ROUTE_NUMBER_CONSTRAINT` when another route of the tenant has the number. */
export async function updatePhoneRoute(
  tx: Tx,
  tenantId: TenantId,
  routeId: PhoneRouteId,
  change: PhoneRouteFields & { updated_at: Date },
): Promise<PhoneRouteRow> {
  return tx
    .updateTable('phone_routes')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', routeId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Takes the outbound default from whichever route of the tenant has it, so that another can have it. */
export async function clearOutboundDefault(tx: Tx, tenantId: TenantId, at: Date): Promise<void> {
  await tx
    .updateTable('phone_routes')
    .set({ outbound_default: false, updated_at: at })
    .where('tenant_id', '=', tenantId)
    .where('outbound_default', '=', true)
    .execute()
}

export async function deletePhoneRoute(tx: Tx, tenantId: TenantId, routeId: PhoneRouteId): Promise<void> {
  await tx.deleteFrom('phone_routes').where('tenant_id', '=', tenantId).where('id', '=', routeId).execute()
}

/** Where the tenant's outbound calls come from when nothing else is said, and who speaks in them; null without such a route. */
export async function findOutboundRoute(db: Db, tenantId: TenantId): Promise<PhoneRouteRow | null> {
  const row = await db
    .selectFrom('phone_routes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('outbound_default', '=', true)
    .executeTakeFirst()
  return row ?? null
}

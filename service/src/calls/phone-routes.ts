import { hasAgentKey } from '../agents/agent-store.ts'
import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { newId, type PhoneRouteId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { uniqueViolation } from '../platform/db/errors.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { refuseInstallationAccount, refuseInstallationNumber } from '../tenancy/installation-numbers.ts'
import { expectTenant, holdKnownTenant } from '../tenancy/known-tenant.ts'
import { claimNumber, releaseNumber } from '../tenancy/phone-number-store.ts'
import { lockTenant } from '../tenancy/tenant-store.ts'
import {
  clearOutboundDefault,
  deletePhoneRoute,
  insertPhoneRoute,
  listPhoneRoutes,
  lockPhoneRoute,
  type PhoneRouteFields,
  type PhoneRouteRow,
  ROUTE_NUMBER_CONSTRAINT,
  updatePhoneRoute,
} from './phone-route-store.ts'

/** `isConnected`: its carrier sends the calls of the number here, or is about to be told to. */
export type WantedRoute = PhoneRouteFields & { isConnected?: boolean }

/**
 * Which agent answers which number. A number belongs to one tenant: its routes and its document claim it together, and
 * the claims change in the transaction that changes the route.
 */
export type PhoneRoutes = {
  /** Newest first. @throws AppError `not_found` for an unknown tenant. */
  list(tenantId: TenantId, page: PageRequest): Promise<Page<PhoneRouteRow>>
  /**
   * Adds a route; as the outbound default it takes that from the tenant's other route.
   *
   * @throws AppError `not_found` for an unknown tenant, `invalid_request` for an agent that it does not have, `conflict`
   * when the number has a route already or is another tenant's.
   */
  create(tenantId: TenantId, fields: WantedRoute, by: Actor): Promise<PhoneRouteRow>
  /** Replaces a route, as a whole. @throws as `create`, and AppError `not_found` for an unknown route. */
  replace(tenantId: TenantId, routeId: PhoneRouteId, fields: WantedRoute, by: Actor): Promise<PhoneRouteRow>
  /**
   * Finds out whether a route could be created, or this one be replaced, and its number be connected; changes nothing.
   *
   * @throws as `replace`, and AppError `forbidden` for a person whose tenant has no carrier account of its own.
   */
  rehearse(tenantId: TenantId, routeId: PhoneRouteId | null, fields: WantedRoute, by: Actor): Promise<void>
  /** Deletes a route and returns it. @throws AppError `not_found`. */
  remove(tenantId: TenantId, routeId: PhoneRouteId, by: Actor): Promise<PhoneRouteRow>
}

/** `installationNumber` is TELEPHONY_FROM_NUMBER: no person of a tenant takes it. */
type Deps = { db: Db; clock: Clock; installationNumber?: PhoneNumber | null }

export function makePhoneRoutes({ db, clock, installationNumber = null }: Deps): PhoneRoutes {
  /** One change of a tenant's numbers at a time: two routes cannot both become the outbound default. */
  function change<T>(tenantId: TenantId, work: (tx: Tx) => Promise<T>): Promise<T> {
    return db
      .transaction()
      .execute(async (tx) => {
        await lockTenant(tx, tenantId)
        await holdKnownTenant(tx, tenantId)
        return work(tx)
      })
      .catch((error: unknown) => {
        if (uniqueViolation(error) !== ROUTE_NUMBER_CONSTRAINT) throw error
        throw new AppError('conflict', 'The number has a route already.')
      })
  }

  async function createIn(tx: Tx, tenantId: TenantId, { wanted, by }: Asked): Promise<PhoneRouteRow> {
    const { isConnected = false, ...fields } = wanted
    const now = new Date(clock.now())
    await refuseInstallationNumber(tx, tenantId, { number: fields.phone_number, by, installationNumber, isConnected })
    await prepare(tx, tenantId, fields, now)
    const id = newId<PhoneRouteId>(now.getTime())
    const route = await insertPhoneRoute(tx, tenantId, { ...fields, id, created_at: now, updated_at: now })
    await audit(tx, { by, action: 'phone_route.created', tenantId, targetId: id, after: shown(route), at: now })
    return route
  }

  async function replaceIn(tx: Tx, tenantId: TenantId, routeId: PhoneRouteId, { wanted, by }: Asked) {
    const { isConnected = false, ...fields } = wanted
    const before = await lockKnownRoute(tx, tenantId, routeId)
    const now = new Date(clock.now())
    await refuseInstallationNumber(tx, tenantId, { number: fields.phone_number, by, installationNumber, isConnected })
    await prepare(tx, tenantId, fields, now)
    const route = await updatePhoneRoute(tx, tenantId, routeId, { ...fields, updated_at: now })
    // Claimed first, released last: see `claimNumber`.
    if (route.phone_number !== before.phone_number) await releaseNumber(tx, tenantId, before.phone_number, 'route')
    const told = { before: shown(before), after: shown(route), at: now }
    await audit(tx, { by, action: 'phone_route.changed', tenantId, targetId: routeId, ...told })
    return route
  }

  return {
    async list(tenantId, page) {
      const rows = await listPhoneRoutes(db, tenantId, page)
      if (rows.length === 0) await expectTenant(db, tenantId)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    create: (tenantId, wanted, by) => change(tenantId, (tx) => createIn(tx, tenantId, { wanted, by })),
    replace: (tenantId, routeId, wanted, by) =>
      change(tenantId, (tx) => replaceIn(tx, tenantId, routeId, { wanted, by })),
    rehearse: (tenantId, routeId, wanted, by) =>
      change(tenantId, async (tx) => {
        await refuseInstallationAccount(tx, tenantId, by)
        const asked = { wanted, by }
        await (routeId === null ? createIn(tx, tenantId, asked) : replaceIn(tx, tenantId, routeId, asked))
        throw new Rehearsed()
      }).catch((error: unknown) => {
        if (!(error instanceof Rehearsed)) throw error
      }),
    remove: (tenantId, routeId, by) =>
      change(tenantId, async (tx) => {
        const route = await lockKnownRoute(tx, tenantId, routeId)
        await deletePhoneRoute(tx, tenantId, routeId)
        await releaseNumber(tx, tenantId, route.phone_number, 'route')
        const told = { before: shown(route), at: new Date(clock.now()) }
        await audit(tx, { by, action: 'phone_route.deleted', tenantId, targetId: routeId, ...told })
        return route
      }),
  }
}

/** What a route is to be, and who says so. */
type Asked = { wanted: WantedRoute; by: Actor }

/** Undoes a transaction that did all that was to be found out. */
class Rehearsed extends Error {}

/** What has to be true before a route of these fields can be written. */
async function prepare(tx: Tx, tenantId: TenantId, fields: PhoneRouteFields, now: Date): Promise<void> {
  if (!(await hasAgentKey(tx, tenantId, fields.agent_key))) {
    const details = [{ path: '/body/agent_key', message: 'is not the key of an agent of the tenant' }]
    throw new AppError('invalid_request', `Unsupported agent key: the tenant has no agent ${fields.agent_key}.`, {
      details,
    })
  }
  await claimNumber(tx, tenantId, fields.phone_number, 'route')
  if (fields.outbound_default) await clearOutboundDefault(tx, tenantId, now)
}

async function lockKnownRoute(tx: Tx, tenantId: TenantId, routeId: PhoneRouteId): Promise<PhoneRouteRow> {
  const route = isUuid(routeId) ? await lockPhoneRoute(tx, tenantId, routeId) : null
  if (!route) throw new AppError('not_found', 'The tenant has no such phone route.')
  return route
}

/** As the audit log tells it. */
function shown({ phone_number, agent_key, label, inbound_enabled, outbound_default }: PhoneRouteRow) {
  return { phone_number, agent_key, label, inbound_enabled, outbound_default }
}

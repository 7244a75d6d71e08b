import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Actor } from '../kernel/actor.ts'
import type { PhoneRouteId, TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  AnyId,
  ErrorBody,
  errorResponses,
  iso,
  listBody,
  listResponse,
  Ok,
  PageQuery,
  Phone,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import { TenantParams, TenantRef } from '../tenancy/tenant-values.ts'
import type { ConnectNumber } from './connect-number.ts'
import type { PhoneRouteRow } from './phone-route-store.ts'
import type { PhoneRoutes, WantedRoute } from './phone-routes.ts'

const RouteParams = strict({ tenant_id: TenantRef, route_id: Type.Unsafe<PhoneRouteId>(AnyId) })

const RouteBody = strict({
  phone_number: Type.Unsafe<PhoneNumber>(Phone),
  agent_key: Type.String({ minLength: 1, maxLength: 63, description: 'Who answers, and who speaks in calls from it.' }),
  label: Type.Optional(Type.String({ maxLength: 200, description: 'For people.' })),
  inbound_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether calls to the number are answered. Default true.' }),
  ),
  outbound_default: Type.Optional(
    Type.Boolean({
      description: 'Whether calls without a `from` come from it; takes this from the other route. Default false.',
    }),
  ),
  configure_carrier: Type.Optional(
    Type.Boolean({
      description:
        'Also has the carrier send the calls of the number here. When it does not, nothing is stored. A person needs it for a number that the tenant does not hold yet. Default false.',
    }),
  ),
})

const PhoneRoute = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  phone_number: Type.String(),
  agent_key: Type.String(),
  label: Type.String(),
  inbound_enabled: Type.Boolean(),
  outbound_default: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const RouteAnswer = Type.Object({ ok: Ok, phone_route: PhoneRoute })

type Deps = { routes: PhoneRoutes; connectNumber: ConnectNumber }
type Asked = { body: Static<typeof RouteBody>; by: Actor }

/** The administration of a tenant's phone routes. */
export function phoneRouteRoutes({ routes, connectNumber }: Deps): FastifyPluginAsyncTypebox {
  /** The carrier is asked before anything is stored, and only for what could be stored: so it all can be repeated. */
  async function connectFirst(tenant: TenantId, routeId: PhoneRouteId | null, { body, by }: Asked) {
    const wanted = wantedOf(body)
    if (!wanted.isConnected) return wanted
    await routes.rehearse(tenant, routeId, wanted, by)
    await connectNumber(tenant, wanted.phone_number)
    return wanted
  }

  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/phone-routes',
      {
        schema: {
          tags: ['admin'],
          summary: "List a tenant's phone routes, newest first",
          operationId: 'listPhoneRoutes',
          params: TenantParams,
          querystring: PageQuery,
          response: { 200: listResponse('phone_routes', PhoneRoute), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await routes.list(request.params.tenant_id, readPage(request.query))
        return listBody('phone_routes', rows.map(toWire), nextCursor)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/phone-routes',
      {
        schema: {
          tags: ['admin'],
          summary: 'Create a phone route',
          operationId: 'createPhoneRoute',
          params: TenantParams,
          body: RouteBody,
          response: { 200: RouteAnswer, ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const { tenant_id } = request.params
        const wanted = await connectFirst(tenant_id, null, { body: request.body, by: actorOf(request) })
        return answer(await routes.create(tenant_id, wanted, actorOf(request)))
      },
    )

    app.put(
      '/api/v1/admin/tenants/:tenant_id/phone-routes/:route_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Replace a phone route',
          operationId: 'replacePhoneRoute',
          params: RouteParams,
          body: RouteBody,
          response: { 200: RouteAnswer, ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const { tenant_id, route_id } = request.params
        const wanted = await connectFirst(tenant_id, route_id, { body: request.body, by: actorOf(request) })
        return answer(await routes.replace(tenant_id, route_id, wanted, actorOf(request)))
      },
    )

    app.delete(
      '/api/v1/admin/tenants/:tenant_id/phone-routes/:route_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Delete a phone route',
          operationId: 'deletePhoneRoute',
          params: RouteParams,
          response: { 200: RouteAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, route_id } = request.params
        return answer(await routes.remove(tenant_id, route_id, actorOf(request)))
      },
    )
  }
}

function wantedOf({ configure_carrier: isConnected = false, ...body }: Static<typeof RouteBody>): WantedRoute {
  return { label: '', inbound_enabled: true, outbound_default: false, ...body, isConnected }
}

function answer(route: PhoneRouteRow) {
  return { ok: true as const, phone_route: toWire(route) }
}

function toWire({ created_at, updated_at, ...route }: PhoneRouteRow) {
  return { ...route, created_at: iso(created_at), updated_at: iso(updated_at) }
}

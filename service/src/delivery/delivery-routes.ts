import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf, tenantOf } from '../platform/http/guards.ts'
import { sendList } from '../platform/http/json-lists.ts'
import { errorResponses, listBody, listResponse } from '../platform/http/schemas.ts'
import { TenantParams } from '../tenancy/tenant-values.ts'
import type { Deliveries } from './deliveries.ts'
import { DeliveryQuery, RedeliveryBody, Requeued, readDeliveryFilter, readRedelivery } from './delivery-query.ts'
import { Delivery, maskDeliveries } from './delivery-shape.ts'

const PATH = '/api/v1/webhook-deliveries'
const ADMIN_PATH = '/api/v1/admin/tenants/:tenant_id/webhook-deliveries'

const LIST = { querystring: DeliveryQuery, response: { 200: listResponse('deliveries', Delivery), ...errorResponses } }
const REDELIVER = { body: RedeliveryBody, response: { 200: Requeued, ...errorResponses } }

/** What a tenant's webhook was sent. To be registered behind `tenantGuard`. */
export function deliveryRoutes(deliveries: Deliveries): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      PATH,
      {
        schema: {
          tags: ['runtime'],
          summary: 'List what was or is to be sent to the webhook, newest first',
          operationId: 'listWebhookDeliveries',
          ...LIST,
        },
      },
      async (request, reply) => {
        const { query } = request
        const page = await deliveries.list(tenantOf(request), readDeliveryFilter(query), readPage(query))
        return sendList(reply, 'deliveries', page)
      },
    )

    app.post(
      PATH,
      {
        schema: {
          tags: ['runtime'],
          summary: 'Send deliveries again: the same ids, the same bodies',
          operationId: 'redeliverWebhooks',
          ...REDELIVER,
        },
      },
      async (request) => {
        const requeued = await deliveries.redeliver(tenantOf(request), readRedelivery(request.body), null)
        return { ok: true as const, requeued }
      },
    )
  }
}

/** The same for an operator, of any tenant: what could tell who somebody is is masked. */
export function adminDeliveryRoutes(
  deliveries: Deliveries,
  expectTenant: (tenantId: TenantId) => Promise<void>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      ADMIN_PATH,
      {
        schema: {
          tags: ['admin'],
          summary: "List what was or is to be sent to a tenant's webhook, newest first",
          operationId: 'listTenantWebhookDeliveries',
          params: TenantParams,
          ...LIST,
        },
      },
      async ({ params, query }) => {
        const { tenant_id } = params
        await expectTenant(tenant_id)
        const { json, nextCursor } = await deliveries.list(tenant_id, readDeliveryFilter(query), readPage(query))
        return listBody('deliveries', await maskDeliveries(json), nextCursor)
      },
    )

    app.post(
      ADMIN_PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'Send deliveries of a tenant again',
          operationId: 'redeliverTenantWebhooks',
          params: TenantParams,
          ...REDELIVER,
        },
      },
      async (request) => {
        const { tenant_id } = request.params
        await expectTenant(tenant_id)
        const requeued = await deliveries.redeliver(tenant_id, readRedelivery(request.body), actorOf(request))
        return { ok: true as const, requeued }
      },
    )
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { invalidRequest } from '../kernel/errors.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import { errorResponses, iso, listBody, listResponse, Ok, PageQuery, strict } from '../platform/http/schemas.ts'
import { QueueKey, TenantRef } from '../tenancy/tenant-values.ts'
import { Queue, queueFields } from './operator-queue-shape.ts'
import { QUEUE_DEFAULTS, type QueueSettings } from './operator-queue-store.ts'
import type { OperatorQueues } from './operator-queues.ts'

const Params = strict({
  tenant_id: TenantRef,
  queue_key: QueueKey,
})
const Body = Type.Partial(
  strict({ ...queueFields, queue_key: Type.String({ description: 'That of the path, as it is read.' }) }),
  { additionalProperties: false },
)
const Removed = Type.Object({ ok: Ok, queue: Queue })
const Answer = Type.Object({
  ...{ ok: Ok, queue: Queue },
  is_set: Type.Boolean({ description: 'Whether it has settings of its own; otherwise it works by the defaults.' }),
})
const LateQueue = Type.Object({
  ...{ tenant_id: Type.String(), queue_key: Type.String() },
  breached: Type.Integer({ minimum: 1, description: 'Tasks, snoozed ones aside, that should be done by now.' }),
  oldest_due: Type.String({ format: 'date-time', description: 'When the first of them should have been done.' }),
})
const PATH = '/api/v1/admin/tenants/:tenant_id/operator-queues/:queue_key'

/** How the queues of a tenant's operators are set, for administrators. */
export function operatorQueueAdminRoutes(queues: OperatorQueues): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/operator-queues/breaches',
      {
        schema: {
          tags: ['admin'],
          summary: 'List the queues of all tenants in which tasks are late, those with the most of them first',
          operationId: 'listLateOperatorQueues',
          querystring: PageQuery,
          response: { 200: listResponse('queues', LateQueue), ...errorResponses },
        },
      },
      async ({ query }) => {
        const { rows, nextCursor } = await queues.lateAcrossTenants(readPage(query))
        const told = rows.map(({ oldest_due, ...queue }) => ({ ...queue, oldest_due: iso(oldest_due) }))
        return listBody('queues', told, nextCursor)
      },
    )

    app.get(
      PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'Read how a queue works; one that was never set has the defaults',
          operationId: 'getOperatorQueue',
          params: Params,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async ({ params }) => {
        const { settings, isSet } = await queues.get(params.tenant_id, params.queue_key)
        return answer(settings, isSet)
      },
    )

    app.put(
      PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'Set how a queue works; what is left out has its default',
          operationId: 'putOperatorQueue',
          params: Params,
          body: Body,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const { params, body } = request
        const { tenant_id, queue_key } = params
        if (body.queue_key !== undefined && body.queue_key !== queue_key)
          throw invalidRequest([{ path: '/body/queue_key', message: 'must be the queue_key of the path' }])
        const settings = { ...QUEUE_DEFAULTS, ...body, queue_key }
        return answer(await queues.put(tenant_id, settings, actorOf(request)), true)
      },
    )

    app.delete(
      PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'Give a queue the defaults again; its tasks stay',
          operationId: 'deleteOperatorQueue',
          params: Params,
          response: { 200: Removed, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, queue_key } = request.params
        return { ok: true as const, queue: await queues.remove(tenant_id, queue_key, actorOf(request)) }
      },
    )
  }
}

function answer(queue: QueueSettings, isSet: boolean) {
  return { ok: true as const, queue, is_set: isSet }
}

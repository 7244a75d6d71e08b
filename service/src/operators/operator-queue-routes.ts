import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { actingAs } from '../platform/http/acting-person.ts'
import { tenantOf } from '../platform/http/guards.ts'
import {
  errorResponses,
  isoOrNull,
  listBody,
  listResponse,
  nullable,
  Ok,
  PageQuery,
  strict,
} from '../platform/http/schemas.ts'
import { QueueKey } from '../tenancy/tenant-values.ts'
import type { TaskDesk } from './callback-task-desk.ts'
import { Operator } from './callback-task-fields.ts'
import { CallbackTask, showCallbackTask } from './callback-task-shape.ts'
import { LoadedQueue } from './operator-queue-shape.ts'
import type { ListedQueue, OperatorQueues } from './operator-queues.ts'

const Params = strict({ queue_key: QueueKey })
const Body = strict({ operator: Operator })
const Next = Type.Object({ ok: Ok, task: nullable(CallbackTask) })

type Deps = { queues: Pick<OperatorQueues, 'list'>; desk: Pick<TaskDesk, 'claimNext'> }

/** The queues that a tenant's operators work on. To be registered behind `tenantGuard`. */
export function operatorQueueRoutes({ queues, desk }: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/operator-queues',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List queues and what waits in them, by key',
          operationId: 'listOperatorQueues',
          querystring: PageQuery,
          response: { 200: listResponse('queues', LoadedQueue), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await queues.list(tenantOf(request), readPage(request.query))
        return listBody('queues', rows.map(showQueue), nextCursor)
      },
    )

    app.post(
      '/api/v1/operator-queues/:queue_key/claim-next',
      {
        preValidation: actingAs('operator'),
        schema: {
          tags: ['runtime'],
          summary: 'Take the next task of a queue that is due; null when there is none',
          operationId: 'claimNextCallbackTask',
          params: Params,
          body: Body,
          response: { 200: Next, ...errorResponses },
        },
      },
      async (request) => {
        const { queue_key: queueKey } = request.params
        const task = await desk.claimNext(tenantOf(request), queueKey, request.body.operator)
        return { ok: true as const, task: task && showCallbackTask(task) }
      },
    )
  }
}

function showQueue({ settings, load }: ListedQueue) {
  return { ...settings, ...load, oldest: isoOrNull(load.oldest), next_breach: isoOrNull(load.next_breach) }
}

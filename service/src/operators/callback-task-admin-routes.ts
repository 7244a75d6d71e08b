import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readPage } from '../kernel/pages.ts'
import { errorResponses, listBody, listResponse } from '../platform/http/schemas.ts'
import type { TaskDesk } from './callback-task-desk.ts'
import { AdminTaskQuery, readTaskFilter } from './callback-task-fields.ts'
import { CallbackTask, showCallbackTask } from './callback-task-shape.ts'

/** The callback tasks of all tenants, for administrators. */
export function callbackTaskAdminRoutes(desk: Pick<TaskDesk, 'listAcrossTenants'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/callback-tasks',
      {
        schema: {
          tags: ['admin'],
          summary: 'List the callback tasks of all tenants, newest first',
          operationId: 'listAllCallbackTasks',
          querystring: AdminTaskQuery,
          response: { 200: listResponse('tasks', CallbackTask), ...errorResponses },
        },
      },
      async ({ query }) => {
        const { rows, nextCursor } = await desk.listAcrossTenants(readTaskFilter(query), readPage(query))
        return listBody('tasks', rows.map(showCallbackTask), nextCursor)
      },
    )
  }
}

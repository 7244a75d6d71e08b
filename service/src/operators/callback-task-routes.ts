import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { personOf } from '../platform/http/acting-person.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { requestKeyOf, tellReplay } from '../platform/http/request-keys.ts'
import {
  ErrorBody,
  errorResponses,
  IfMatchHeader,
  listBody,
  listResponse,
  Ok,
  PageQuery,
} from '../platform/http/schemas.ts'
import type { TaskDesk } from './callback-task-desk.ts'
import {
  readTaskEdit,
  readTaskFields,
  readTaskFilter,
  TaskBody,
  TaskEditBody,
  TaskParams,
  TaskQuery,
} from './callback-task-fields.ts'
import { CallbackTask, showCallbackTask, showTaskChange, TaskChange } from './callback-task-shape.ts'
import type { CallbackTaskRow } from './callback-task-store.ts'
import { taskEtag } from './edit-callback-task.ts'

const Answer = Type.Object({ ok: Ok, task: CallbackTask })
const TaggedAnswer = Type.Object({
  ...Answer.properties,
  etag: Type.String({ description: 'Quoted, as in the ETag header. Changes with whatever can be edited of the task.' }),
})
const PATH = '/api/v1/callback-tasks'

/** A tenant's callback tasks: to make, read and edit them. To be registered behind `tenantGuard`. */
export function callbackTaskRoutes(desk: TaskDesk): FastifyPluginAsyncTypebox {
  return async (app) => {
    await app.register(listRoutes(desk))
    await app.register(taskRoutes(desk))
  }
}

function listRoutes(desk: TaskDesk): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      PATH,
      {
        schema: {
          tags: ['runtime'],
          summary: 'List callback tasks: newest first, or what is due first',
          operationId: 'listCallbackTasks',
          querystring: TaskQuery,
          response: { 200: listResponse('tasks', CallbackTask), ...errorResponses },
        },
      },
      async (request) => {
        const { query } = request
        const list = query.order === 'due' ? desk.listDue : desk.list
        const { rows, nextCursor } = await list(tenantOf(request), readTaskFilter(query), readPage(query))
        return listBody('tasks', rows.map(showCallbackTask), nextCursor)
      },
    )

    app.post(
      PATH,
      {
        schema: {
          tags: ['runtime'],
          summary: 'Have somebody called back',
          operationId: 'createCallbackTask',
          body: TaskBody,
          response: { 200: Answer, ...errorResponses, 422: ErrorBody },
        },
      },
      async (request, reply) => {
        const fields = readTaskFields(request.body, personOf(request))
        const { task, isReplay } = await desk.create(tenantOf(request), fields, requestKeyOf(request))
        if (isReplay) tellReplay(reply)
        return { ok: true as const, task: showCallbackTask(task) }
      },
    )
  }
}

function taskRoutes(desk: TaskDesk): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      `${PATH}/:id`,
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read a callback task',
          operationId: 'getCallbackTask',
          params: TaskParams,
          response: { 200: TaggedAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const answer = tagged(await desk.get(tenantOf(request), request.params.id))
        reply.header('etag', answer.etag)
        return answer
      },
    )

    app.patch(
      `${PATH}/:id`,
      {
        schema: {
          tags: ['runtime'],
          summary: 'Change a callback task; what is left out stays',
          operationId: 'editCallbackTask',
          params: TaskParams,
          headers: IfMatchHeader,
          body: TaskEditBody,
          response: { 200: TaggedAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const wanted = { edit: readTaskEdit(request.body), ifMatch: request.headers['if-match'] }
        const answer = tagged(await desk.edit(tenantOf(request), request.params.id, wanted, personOf(request)))
        reply.header('etag', answer.etag)
        return answer
      },
    )

    app.get(
      `${PATH}/:id/history`,
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read who did what to a callback task, newest first',
          operationId: 'listCallbackTaskChanges',
          params: TaskParams,
          querystring: PageQuery,
          response: { 200: listResponse('changes', TaskChange), ...errorResponses },
        },
      },
      async (request) => {
        const page = readPage(request.query)
        const { rows, nextCursor } = await desk.history(tenantOf(request), request.params.id, page)
        return listBody('changes', rows.map(showTaskChange), nextCursor)
      },
    )
  }
}

function tagged(task: CallbackTaskRow) {
  return { ok: true as const, task: showCallbackTask(task), etag: taskEtag(task) }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { sendList } from '../platform/http/json-lists.ts'
import { AnyId, errorResponses, listResponse, Ok, strict } from '../platform/http/schemas.ts'
import { CallLog, showCallLog } from './call-log-shape.ts'
import type { CallLogs } from './call-logs.ts'
import { readRecordFilter, recordFields } from './record-query.ts'

const Query = strict({
  ...recordFields,
  campaign_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only calls that this campaign has placed.' })),
})

const Params = strict({ call_sid: AnyId })

/** A tenant's own view of its calls. To be registered behind `tenantGuard`. */
export function callLogRoutes(logs: CallLogs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/call-logs',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List calls, newest first',
          operationId: 'listCallLogs',
          querystring: Query,
          response: { 200: listResponse('call_logs', CallLog), ...errorResponses },
        },
      },
      async (request, reply) => {
        const { campaign_id: campaignId, ...query } = request.query
        const wanted = { ...readRecordFilter(query), campaignId }
        const page = await logs.list(tenantOf(request), wanted, readPage(query))
        return sendList(reply, 'call_logs', page)
      },
    )

    app.get(
      '/api/v1/call-logs/:call_sid',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read a call',
          operationId: 'getCallLog',
          params: Params,
          response: { 200: Type.Object({ ok: Ok, call_log: CallLog }), ...errorResponses },
        },
      },
      async (request) => {
        const log = await logs.get(tenantOf(request), request.params.call_sid)
        return { ok: true as const, call_log: showCallLog(log) }
      },
    )
  }
}

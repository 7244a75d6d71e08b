import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { personNameOf, tenantOf } from '../platform/http/guards.ts'
import { AnyId, ErrorBody, errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import { CallLog, showCallLog } from '../records/call-log-shape.ts'
import type { CancelCall } from './cancel-call.ts'

const Params = strict({ call_sid: AnyId })

/** For calls that were placed by mistake. To be registered behind `tenantGuard`. */
export function cancelCallRoutes(calls: CancelCall): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/call-logs/:call_sid/cancel',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Cancel a placed call that still rings',
          operationId: 'cancelCall',
          params: Params,
          response: { 200: Type.Object({ ok: Ok, call_log: CallLog }), ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const log = await calls.cancel(tenantOf(request), request.params.call_sid, personNameOf(request))
        return { ok: true as const, call_log: showCallLog(log) }
      },
    )
  }
}

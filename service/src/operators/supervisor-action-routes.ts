import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { AnyId, errorResponses, listBody, listResponse, pageFields, strict } from '../platform/http/schemas.ts'
import { ShownSupervisorAction, showSupervisorAction } from '../records/supervisor-action-shape.ts'
import { TenantRef } from '../tenancy/tenant-values.ts'
import { SUPERVISOR_ACTIONS, type SupervisorActions } from './supervisor-actions.ts'

const Query = strict({
  ...pageFields,
  tenant_id: Type.Optional(TenantRef),
  stream_sid: Type.Optional(AnyId),
  action: Type.Optional(Type.Enum(SUPERVISOR_ACTIONS)),
})

/** What supervisors did to live calls: over all tenants, for the administrator alone. */
export function supervisorActionRoutes(actions: SupervisorActions): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/supervisor-actions',
      {
        schema: {
          tags: ['admin'],
          summary: 'List what supervisors did to live calls, newest first',
          operationId: 'listSupervisorActions',
          querystring: Query,
          response: { 200: listResponse('actions', ShownSupervisorAction), ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id: tenantId, stream_sid: streamSid, action, ...page } = request.query
        const { rows, nextCursor } = await actions.list({ tenantId, streamSid, action }, readPage(page))
        return listBody('actions', rows.map(showSupervisorAction), nextCursor)
      },
    )
  }
}

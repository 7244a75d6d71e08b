import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { TenantId } from '../kernel/ids.ts'
import { inLanes } from '../kernel/in-lanes.ts'
import { errorResponses, nullable, Ok, Timestamp } from '../platform/http/schemas.ts'
import type { LiveCalls } from './live-calls.ts'
import { newestFirst } from './newest-first.ts'

const ActiveSession = Type.Object({
  stream_sid: Type.String(),
  tenant: Type.String(),
  org_id: nullable(Type.String()),
  agent_name: Type.String(),
  call_type: Type.String({ description: 'inbound, outbound or browser' }),
  customer_phone: Type.String({ description: 'As the call log has it.' }),
  greeting: Type.String(),
  started_at: Timestamp,
  escalated: Type.Boolean(),
  escalation_target: nullable(Type.String()),
})
const ListAnswer = Type.Object({
  ok: Ok,
  count: Type.Integer({ minimum: 0 }),
  sessions: Type.Array(ActiveSession),
})

/** Each is a query and a question to other nodes: a thousand tenants must not take all connections. */
const TENANTS_AT_ONCE = 8

type Parts = {
  calls: LiveCalls
  /** The tenants that have calls that are not over. */
  busyTenants(): Promise<TenantId[]>
}

/** The live calls of all tenants, on all nodes, for the administrator alone. */
export function activeSessionRoutes({ calls, busyTenants }: Parts): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/sessions',
      {
        schema: {
          tags: ['admin'],
          summary: 'List the live sessions of all tenants, newest first',
          operationId: 'listActiveSessions',
          response: { 200: ListAnswer, ...errorResponses },
        },
      },
      async () => {
        const lists = await inLanes(await busyTenants(), TENANTS_AT_ONCE, (tenantId) => calls.list(tenantId))
        const sessions = lists.flat().sort(newestFirst)
        return { ok: true as const, count: sessions.length, sessions }
      },
    )
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tenantOf } from '../platform/http/guards.ts'
import { errorResponses, Ok, RefusalDetail, strict } from '../platform/http/schemas.ts'
import { CallableNumber } from '../tenancy/tenant-values.ts'
import { CallMetadata } from './call-metadata.ts'
import type { DialCheck } from './dial-check.ts'

const Body = strict({
  to: CallableNumber,
  from: Type.Optional(CallableNumber),
  agent_key: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  metadata: Type.Optional(CallMetadata("That of the call: its `consent` counts where the tenant's rules ask for it.")),
})

const Answer = Type.Object({
  ok: Ok,
  allowed: Type.Boolean({ description: 'Whether the call would be placed now.' }),
  refusals: Type.Array(RefusalDetail, { description: 'All that speaks against it, the gravest first.' }),
})

/** The question whether a call may be placed. To be registered behind `tenantGuard`. */
export function dialCheckRoutes(check: DialCheck): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/dial-check',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Ask whether a number may be called now, without calling it',
          operationId: 'checkDial',
          body: Body,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const { to, from = null, agent_key: agentKey = null, metadata = {} } = request.body
        const refusals = await check(tenantOf(request), { to, from, agentKey, metadata })
        return { ok: true as const, allowed: refusals.length === 0, refusals }
      },
    )
  }
}

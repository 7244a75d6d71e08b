import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tenantOf } from '../platform/http/guards.ts'
import { errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import { CallableNumber } from '../tenancy/tenant-values.ts'
import type { DialCheck } from './dial-check.ts'

const Body = strict({
  to: CallableNumber,
  from: Type.Optional(CallableNumber),
  agent_key: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
})

const Answer = Type.Object({
  ok: Ok,
  allowed: Type.Boolean({ description: 'Whether the call would be placed now.' }),
  refusals: Type.Array(
    Type.Object({
      code: Type.String({ description: 'As in the 409 with which the call would be refused.' }),
      reason: Type.String({ description: 'One sentence that a person can act on.' }),
    }),
    { description: 'All that speaks against it, the gravest first.' },
  ),
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
        const { to, from = null, agent_key: agentKey = null } = request.body
        const refusals = await check(tenantOf(request), { to, from, agentKey })
        return { ok: true as const, allowed: refusals.length === 0, refusals }
      },
    )
  }
}

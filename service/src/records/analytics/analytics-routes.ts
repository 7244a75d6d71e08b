import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { tenantOf } from '../../platform/http/guards.ts'
import { errorResponses, Ok, strict } from '../../platform/http/schemas.ts'
import { analyticsFields, CallAnalyticsAnswer, readAnalyticsAsk, showAnalytics } from './analytics-shape.ts'
import type { CallAnalytics } from './call-analytics.ts'

const text = Type.Optional(
  Type.String({ minLength: 1, maxLength: 256, description: 'Only its calls. An unknown one finds nothing.' }),
)

const Query = strict({
  ...analyticsFields,
  group_by: Type.Optional(
    Type.Enum(['agent', 'version'], { description: 'A row for each of them in each span in which it had calls.' }),
  ),
  agent_key: text,
  agent_version_id: text,
})

/** What a tenant's calls came to. To be registered behind `tenantGuard`. */
export function analyticsRoutes(analytics: Pick<CallAnalytics, 'ofTenant'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/analytics/calls',
      {
        schema: {
          tags: ['runtime'],
          summary: 'What calls came to, by hour or day, in all or by agent or version',
          operationId: 'getCallAnalytics',
          querystring: Query,
          response: { 200: Type.Object({ ok: Ok, analytics: CallAnalyticsAnswer }), ...errorResponses },
        },
      },
      async (request) => {
        const found = await analytics.ofTenant(tenantOf(request), readAnalyticsAsk(request.query))
        return { ok: true as const, analytics: showAnalytics(found) }
      },
    )
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { errorResponses, iso, Ok, strict, Timestamp } from '../../platform/http/schemas.ts'
import type { TenantByToken } from '../../tenancy/token-filter.ts'
import { analyticsFields, CallAnalyticsAnswer, readAnalyticsAsk, showAnalytics } from './analytics-shape.ts'
import type { CallAnalytics } from './call-analytics.ts'
import type { CountAsk, CountResult } from './count-calls.ts'

const MAX_LIMIT_HOURS = 10_000
const DEFAULT_LIMIT_HOURS = 100

const Query = strict({
  ...analyticsFields,
  group_by: Type.Optional(
    Type.Enum(['tenant'], { description: 'A row for each tenant in each span in which it had calls.' }),
  ),
})

const SweepQuery = strict({
  auth_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Only the tenant whose API key or legacy token this is. It is not logged.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT_HOURS,
      default: DEFAULT_LIMIT_HOURS,
      description: 'Hours of tenants at most.',
    }),
  ),
})

const SweepResult = Type.Object({
  counted_hours: Type.Integer({ minimum: 0, description: 'Hours of tenants that were counted anew.' }),
  has_more: Type.Boolean({ description: 'Whether something is left to be counted.' }),
  failures: Type.Array(
    Type.Object({
      ...{ tenant_id: Type.String(), starts_at: Timestamp },
      error: Type.String({ description: 'A sentence for people.' }),
    }),
  ),
})

type Needs = {
  analytics: Pick<CallAnalytics, 'acrossTenants'>
  count(ask: CountAsk): Promise<CountResult>
  tenantBy: TenantByToken
}

/** What the calls of all tenants came to, for administrators, and what counts them. */
export function analyticsAdminRoutes({ analytics, count, tenantBy }: Needs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/analytics/calls',
      {
        schema: {
          tags: ['admin'],
          summary: 'What the calls of all tenants came to, by hour or day, in all or by tenant',
          operationId: 'getCallAnalyticsOfTenants',
          querystring: Query,
          response: { 200: Type.Object({ ok: Ok, analytics: CallAnalyticsAnswer }), ...errorResponses },
        },
      },
      async ({ query }) => {
        const found = await analytics.acrossTenants(readAnalyticsAsk(query))
        return { ok: true as const, analytics: showAnalytics(found) }
      },
    )

    app.post(
      '/api/v1/admin/analytics/sweep',
      {
        schema: {
          tags: ['admin'],
          summary: 'Count calls that are new or have changed since they were counted',
          operationId: 'sweepCallAnalytics',
          querystring: SweepQuery,
          response: { 200: Type.Object({ ok: Ok, result: SweepResult }), ...errorResponses },
        },
      },
      async ({ query: { auth_token: token, limit: limitHours = DEFAULT_LIMIT_HOURS } }) => {
        const tenantId = token === undefined ? null : await tenantBy(token)
        const { failures, ...result } = await count({ tenantId, limitHours })
        const told = failures.map(({ starts_at, ...failure }) => ({ ...failure, starts_at: iso(starts_at) }))
        return { ok: true as const, result: { ...result, failures: told } }
      },
    )
  }
}

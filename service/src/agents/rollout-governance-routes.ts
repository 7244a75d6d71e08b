import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AgentId } from '../kernel/ids.ts'
import { actorOf } from '../platform/http/guards.ts'
import { AnyId, errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import { takeNothing } from '../platform/http/take-nothing.ts'
import { TenantRef } from '../tenancy/tenant-values.ts'
import { type TenantByToken, TokenFilter, tenantAsked, tokenField } from '../tenancy/token-filter.ts'
import type { GovernanceAsk, GovernanceSweepResult } from './governance-sweep.ts'
import type { Governance } from './rollout-governance.ts'
import { GovernanceEvaluation } from './rollout-governance-shape.ts'
import { GOVERNANCE_STATUSES } from './rollout-judgement.ts'

const Params = strict({ tenant_id: TenantRef, agent_id: Type.Unsafe<AgentId>(AnyId) })

const apply = Type.Optional(
  Type.Boolean({ default: false, description: 'Whether versions that do badly lose their share. Default: only told.' }),
)

const MAX_LIMIT_AGENTS = 10_000
const DEFAULT_LIMIT_AGENTS = 100

const EvaluateBody = strict({ apply })
const SweepBody = strict({
  apply,
  ...tokenField,
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT_AGENTS,
      default: DEFAULT_LIMIT_AGENTS,
      description: 'Agents at most.',
    }),
  ),
})

const Count = Type.Integer({ minimum: 0 })
const named = { tenant_id: Type.String(), agent_id: Type.String({ format: 'uuid' }) }
const SweepResult = Type.Object({
  attempted_agents: Type.Integer({ minimum: 0, description: 'Agents with a policy that were looked at.' }),
  attempted_tenants: Count,
  evaluated_agents: Type.Integer({ minimum: 0, description: 'Those of them that could be judged.' }),
  evaluated_tenants: Count,
  rollback_recommended: Type.Integer({
    minimum: 0,
    description: 'Agents with a version that does badly, also where it was applied.',
  }),
  rollbacks_applied: Count,
  items: Type.Array(
    Type.Object({
      ...named,
      agent_key: Type.String(),
      status: Type.Enum(GOVERNANCE_STATUSES),
      applied: Type.Boolean(),
      reasons: Type.Array(Type.String()),
    }),
  ),
  failures: Type.Array(Type.Object({ ...named, error: Type.String({ description: 'A sentence for people.' }) })),
})

type Needs = {
  governance: Governance
  sweep(ask: GovernanceAsk): Promise<GovernanceSweepResult>
  tenantBy: TenantByToken
}

/** Rollouts that are judged by what their versions' calls were worth, for administrators. */
export function rolloutGovernanceRoutes({ governance, sweep, tenantBy }: Needs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-governance/evaluate',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Judge the rollout of an agent, and take the share of versions that do badly',
          operationId: 'evaluateRollout',
          params: Params,
          body: EvaluateBody,
          response: { 200: Type.Object({ ok: Ok, evaluation: GovernanceEvaluation }), ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, agent_id } = request.params
        const asked = { apply: request.body.apply ?? false, by: actorOf(request) }
        return { ok: true as const, evaluation: await governance.evaluate(tenant_id, agent_id, asked) }
      },
    )

    app.post(
      '/api/v1/admin/rollout-governance/sweep',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Judge the rollouts of all agents that have a policy',
          operationId: 'sweepRollouts',
          querystring: TokenFilter,
          body: SweepBody,
          response: { 200: Type.Object({ ok: Ok, result: SweepResult }), ...errorResponses },
        },
      },
      async (request) => {
        const { apply: isApplied = false, limit = DEFAULT_LIMIT_AGENTS } = request.body
        const tenantId = await tenantAsked(request, tenantBy)
        const ask = { tenantId, apply: isApplied, limitAgents: limit, by: actorOf(request) }
        return { ok: true as const, result: await sweep(ask) }
      },
    )
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AgentId, AgentVersionId } from '../kernel/ids.ts'
import { actorOf } from '../platform/http/guards.ts'
import { AnyId, errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import { TenantRef } from '../tenancy/tenant-values.ts'
import { POLICY_DEFAULTS, type RolloutPolicies } from './rollout-policies.ts'
import { LastRollback, Percentage, Policy, RolloutEntry, showRollout } from './rollout-shape.ts'
import type { RolloutList, Rollouts } from './rollouts.ts'

const Params = strict({ tenant_id: TenantRef, agent_id: Type.Unsafe<AgentId>(AnyId) })
const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Write only over the rollout with this ETag; a stale one: 409.' }),
  ),
})

const MAX_ENTRIES = 50

const PutBody = strict({
  entries: Type.Array(
    strict({ agent_version_id: Type.Unsafe<AgentVersionId>(AnyId), traffic_percentage: Percentage }),
    {
      maxItems: MAX_ENTRIES,
      description: 'At most 100 percent together; the rest is the published version’s.',
    },
  ),
})
const RolloutsAnswer = Type.Object({
  ok: Ok,
  count: Type.Integer({ minimum: 0 }),
  rollouts: Type.Array(RolloutEntry),
  etag: Type.String({ description: 'Quoted, as in the ETag header.' }),
  last_rollback: LastRollback,
})

const PolicyBody = strict(Type.Partial(Policy).properties)
const PolicyAnswer = Type.Object({ ok: Ok, policy: nullable(Policy) })

/** The administration of rollouts: which versions of an agent answer a share of its calls, and what they must be worth. */
export function rolloutRoutes(rollouts: Rollouts, policies: RolloutPolicies): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollouts',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read the rollout of an agent',
          operationId: 'getRollouts',
          params: Params,
          response: { 200: RolloutsAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const list = await rollouts.list(request.params.tenant_id, request.params.agent_id)
        reply.header('etag', list.etag)
        return toWire(list)
      },
    )

    app.put(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollouts',
      {
        schema: {
          tags: ['admin'],
          summary: 'Replace the rollout of an agent',
          operationId: 'putRollouts',
          params: Params,
          headers: IfMatch,
          body: PutBody,
          response: { 200: RolloutsAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { tenant_id, agent_id } = request.params
        const wanted = { entries: request.body.entries, ifMatch: request.headers['if-match'] }
        const list = await rollouts.replace(tenant_id, agent_id, wanted, actorOf(request))
        reply.header('etag', list.etag)
        return toWire(list)
      },
    )

    app.get(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-policy',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read the rollout policy of an agent; null when it has none',
          operationId: 'getRolloutPolicy',
          params: Params,
          response: { 200: PolicyAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, agent_id } = request.params
        return { ok: true as const, policy: await policies.get(tenant_id, agent_id) }
      },
    )

    app.put(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-policy',
      {
        schema: {
          tags: ['admin'],
          summary: 'Write the rollout policy of an agent, as a whole',
          operationId: 'putRolloutPolicy',
          params: Params,
          body: PolicyBody,
          response: { 200: PolicyAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, agent_id } = request.params
        const policy = { ...POLICY_DEFAULTS, ...request.body }
        const written = await policies.put(tenant_id, agent_id, policy, actorOf(request))
        return { ok: true as const, policy: written }
      },
    )
  }
}

function toWire({ rollouts, etag, lastRollback }: RolloutList) {
  const shown = rollouts.map(showRollout)
  return { ok: true as const, count: shown.length, rollouts: shown, etag, last_rollback: lastRollback }
}

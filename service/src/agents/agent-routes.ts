import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AgentId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  AnyId,
  errorResponses,
  forPeople,
  iso,
  KEY_PATTERN,
  listBody,
  listResponse,
  Ok,
  PageQuery,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import { TenantParams, TenantRef } from '../tenancy/tenant-values.ts'
import type { AgentRow } from './agent-store.ts'
import type { Agents } from './agents.ts'

const AgentParams = strict({ tenant_id: TenantRef, agent_id: Type.Unsafe<AgentId>(AnyId) })

const Name = forPeople(200, 'For people.')
const Description = Type.String({ maxLength: 2000 })
const RequireSimulation = Type.Boolean({
  description: 'Whether a version is published only when it has passed a simulation. Default false.',
})

const CreateBody = strict({
  agent_key: Type.String({
    pattern: KEY_PATTERN,
    description: 'How calls and phone routes name the agent.',
  }),
  name: Name,
  description: Type.Optional(Description),
  require_simulation: Type.Optional(RequireSimulation),
})

const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    require_simulation: Type.Optional(RequireSimulation),
  },
  { additionalProperties: false, minProperties: 1 },
)

const Agent = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  agent_key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  require_simulation: RequireSimulation,
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** The administration of a tenant's agents. */
export function agentRoutes(agents: Agents): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/agents',
      {
        schema: {
          tags: ['admin'],
          summary: "List a tenant's agents, newest first",
          operationId: 'listAgents',
          params: TenantParams,
          querystring: PageQuery,
          response: { 200: listResponse('agents', Agent), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await agents.list(request.params.tenant_id, readPage(request.query))
        return listBody('agents', rows.map(toWire), nextCursor)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/agents',
      {
        schema: {
          tags: ['admin'],
          summary: 'Create an agent',
          operationId: 'createAgent',
          params: TenantParams,
          body: CreateBody,
          response: { 200: Type.Object({ ok: Ok, agent: Agent }), ...errorResponses },
        },
      },
      async (request) => {
        const {
          agent_key: agentKey,
          name,
          description = '',
          require_simulation: requireSimulation = false,
        } = request.body
        const wanted = { agentKey, name, description, requireSimulation }
        const agent = await agents.create(request.params.tenant_id, wanted, actorOf(request))
        return { ok: true as const, agent: toWire(agent) }
      },
    )

    app.patch(
      '/api/v1/admin/tenants/:tenant_id/agents/:agent_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Change what an agent is called, and what publishing its versions takes',
          operationId: 'changeAgent',
          params: AgentParams,
          body: ChangeBody,
          response: { 200: Type.Object({ ok: Ok, agent: Agent }), ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, agent_id } = request.params
        const agent = await agents.change(tenant_id, agent_id, request.body, actorOf(request))
        return { ok: true as const, agent: toWire(agent) }
      },
    )
  }
}

function toWire({ created_at, updated_at, ...agent }: AgentRow) {
  return { ...agent, created_at: iso(created_at), updated_at: iso(updated_at) }
}

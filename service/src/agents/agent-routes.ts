import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  errorResponses,
  iso,
  listBody,
  listResponse,
  Ok,
  PageQuery,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import type { AgentRow } from './agent-store.ts'
import type { Agents } from './agents.ts'

const Params = strict({ tenant_id: Type.Unsafe<TenantId>(Type.String({ minLength: 1, maxLength: 200 })) })

const CreateBody = strict({
  agent_key: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,62}$',
    description: 'How calls and phone routes name the agent.',
  }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'For people.' }),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
})

const Agent = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  agent_key: Type.String(),
  name: Type.String(),
  description: Type.String(),
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
          params: Params,
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
          params: Params,
          body: CreateBody,
          response: { 200: Type.Object({ ok: Ok, agent: Agent }), ...errorResponses },
        },
      },
      async (request) => {
        const { agent_key: agentKey, name, description = '' } = request.body
        const agent = await agents.create(request.params.tenant_id, { agentKey, name, description }, actorOf(request))
        return { ok: true as const, agent: toWire(agent) }
      },
    )
  }
}

function toWire({ created_at, updated_at, ...agent }: AgentRow) {
  return { ...agent, created_at: iso(created_at), updated_at: iso(updated_at) }
}

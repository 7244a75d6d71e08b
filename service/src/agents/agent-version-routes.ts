import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  AnyId,
  errorResponses,
  IfMatchHeader,
  iso,
  isoOrNull,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  Ok,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import { AgentVersionConfig, StoredAgentConfig } from '../tenancy/agent-config.ts'
import { TenantParams, TenantRef, Warnings } from '../tenancy/tenant-values.ts'
import { type AgentVersion as AgentVersionRecord, VERSION_STATUSES } from './agent-version-store.ts'
import { type AgentVersions, versionEtag } from './agent-versions.ts'

const VersionParams = strict({ tenant_id: TenantRef, version_id: Type.Unsafe<AgentVersionId>(AnyId) })

const ListQuery = strict({
  ...longRowsPageFields,
  agent_id: Type.Optional(Type.Unsafe<AgentId>(Type.String({ format: 'uuid', description: 'Only of this agent.' }))),
})
const CreateBody = strict({ agent_id: Type.Unsafe<AgentId>(AnyId), config: AgentVersionConfig })
const ReplaceBody = strict({ config: AgentVersionConfig })

const PublishHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Publish it only if its config has this ETag; * whatever it says. A stale one: 412.' }),
  ),
})

const AgentVersion = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  agent_id: Type.String({ format: 'uuid' }),
  agent_key: Type.String(),
  agent_name: Type.String({ description: 'The name of the agent, for people.' }),
  version_number: Type.Integer({ minimum: 1, description: 'Counts from 1 for each agent.' }),
  status: Type.Enum(VERSION_STATUSES),
  config: StoredAgentConfig,
  etag: Type.String({ description: 'Quoted; of the config: to be sent as If-Match.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  published_at: nullable(Timestamp),
})
const VersionAnswer = Type.Object({ ok: Ok, version: AgentVersion, warnings: Warnings })

/** The administration of the versions of a tenant's agents. */
export function agentVersionRoutes(versions: AgentVersions): FastifyPluginAsyncTypebox {
  async function answer(tenantId: TenantId, version: AgentVersionRecord) {
    const warnings = await versions.warnings(tenantId, version.config)
    return { ok: true as const, version: toWire(version), ...(warnings.length > 0 && { warnings }) }
  }

  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/agent-versions',
      {
        schema: {
          tags: ['admin'],
          summary: "List the versions of a tenant's agents, newest first",
          operationId: 'listAgentVersions',
          params: TenantParams,
          querystring: ListQuery,
          response: { 200: listResponse('versions', AgentVersion), ...errorResponses },
        },
      },
      async (request) => {
        const { agent_id: agentId = null, ...page } = request.query
        const { rows, nextCursor } = await versions.list(request.params.tenant_id, agentId, readPage(page))
        return listBody('versions', rows.map(toWire), nextCursor)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/agent-versions',
      {
        schema: {
          tags: ['admin'],
          summary: 'Draft a version of an agent',
          operationId: 'createAgentVersion',
          params: TenantParams,
          body: CreateBody,
          response: { 200: VersionAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id } = request.params
        const { agent_id, config } = request.body
        return answer(tenant_id, await versions.create(tenant_id, agent_id, config, actorOf(request)))
      },
    )

    app.patch(
      '/api/v1/admin/tenants/:tenant_id/agent-versions/:version_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Replace the config of a draft',
          operationId: 'replaceAgentVersionConfig',
          params: VersionParams,
          headers: IfMatchHeader,
          body: ReplaceBody,
          response: { 200: VersionAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { tenant_id, version_id } = request.params
        const wanted = { config: request.body.config, ifMatch: request.headers['if-match'] }
        const written = await versions.replaceConfig(tenant_id, version_id, wanted, actorOf(request))
        reply.header('etag', versionEtag(written))
        return answer(tenant_id, written)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/agent-versions/:version_id/publish',
      {
        schema: {
          tags: ['admin'],
          summary: 'Publish a version: calls of its agent use it from now on',
          operationId: 'publishAgentVersion',
          params: VersionParams,
          headers: PublishHeaders,
          response: { 200: VersionAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id, version_id } = request.params
        const published = await versions.publish(tenant_id, version_id, actorOf(request), request.headers['if-match'])
        return answer(tenant_id, published)
      },
    )
  }
}

function toWire(record: AgentVersionRecord) {
  const { created_at, updated_at, published_at, config_changed_at: _, ...version } = record
  return {
    ...version,
    etag: versionEtag(record),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    published_at: isoOrNull(published_at),
  }
}

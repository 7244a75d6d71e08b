import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ApiKeyId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  errorResponses,
  forPeople,
  iso,
  isoOrNull,
  listBody,
  listResponse,
  nullable,
  Ok,
  PageQuery,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import type { ApiKeyRecord } from './api-key-store.ts'
import type { ApiKeys } from './api-keys.ts'
import { TenantParams, TenantRef } from './tenant-values.ts'

const KeyParams = strict({ tenant_id: TenantRef, key_id: Type.Unsafe<ApiKeyId>(Type.String({ format: 'uuid' })) })

const CreateBody = strict({
  label: forPeople(200, 'What the key is for, for people.'),
})

const ApiKey = Type.Object({
  id: Type.String({ format: 'uuid' }),
  key_prefix: Type.String({ description: 'How the token starts: pk_ and 8 characters.' }),
  label: Type.String(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
})
const Created = Type.Object({
  api_key: ApiKey,
  token: Type.String({ description: 'The secret. It is shown here and never again.' }),
})

/** The administration of a tenant's API keys. */
export function apiKeyRoutes(keys: ApiKeys): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/:tenant_id/api-keys',
      {
        schema: {
          tags: ['admin'],
          summary: "List a tenant's API keys, newest first, revoked ones too",
          operationId: 'listApiKeys',
          params: TenantParams,
          querystring: PageQuery,
          response: { 200: listResponse('api_keys', ApiKey), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await keys.list(request.params.tenant_id, readPage(request.query))
        return listBody('api_keys', rows.map(toWire), nextCursor)
      },
    )

    app.post(
      '/api/v1/admin/tenants/:tenant_id/api-keys',
      {
        schema: {
          tags: ['admin'],
          summary: 'Create an API key',
          operationId: 'createApiKey',
          params: TenantParams,
          body: CreateBody,
          response: { 200: Type.Object({ ok: Ok, created: Created }), ...errorResponses },
        },
      },
      async (request) => {
        const { record, token } = await keys.create(request.params.tenant_id, request.body.label, actorOf(request))
        return { ok: true as const, created: { api_key: toWire(record), token } }
      },
    )

    app.delete(
      '/api/v1/admin/tenants/:tenant_id/api-keys/:key_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Revoke an API key',
          operationId: 'revokeApiKey',
          params: KeyParams,
          response: { 200: Type.Object({ ok: Ok, api_key: ApiKey }), ...errorResponses },
        },
      },
      async (request) => {
        const record = await keys.revoke(request.params.tenant_id, request.params.key_id, actorOf(request))
        return { ok: true as const, api_key: toWire(record) }
      },
    )
  }
}

function toWire({ created_at, last_used_at, revoked_at, ...key }: ApiKeyRecord) {
  return {
    ...key,
    created_at: iso(created_at),
    last_used_at: isoOrNull(last_used_at),
    revoked_at: isoOrNull(revoked_at),
  }
}

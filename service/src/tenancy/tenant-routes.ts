import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  DeleteHeaders,
  errorResponses,
  listBody,
  listResponse,
  longRowsPageFields,
  Ok,
  strict,
  WriteHeaders,
} from '../platform/http/schemas.ts'
import { TenantDocument } from './tenant-document.ts'
import { removeTenant, type TenantRemoval } from './tenant-removal.ts'
import { TenantParams, Warnings } from './tenant-values.ts'
import type { ShownTenant, Tenants } from './tenants.ts'

const Etag = Type.String({ description: 'Quoted, as in the ETag header. Changes with the document, secrets included.' })
const Tenant = Type.Object({ tenant_id: Type.String(), config: TenantDocument, etag: Etag })
const TenantAnswer = Type.Object({ ok: Ok, ...Tenant.properties })
const WriteAnswer = Type.Object({
  ok: Ok,
  tenant_id: Type.String(),
  etag: Etag,
  warnings: Warnings,
})
const DeleteAnswer = Type.Object({ ok: Ok, tenant_id: Type.String() })

/**
 * Documents go out as they are stored, also those that an older version with other bounds took: a serializer made of the
 * schema would fail on them. Their secrets were hidden before.
 */
const asStored = () => (answer: unknown) => JSON.stringify(answer)

/** The administration of tenants and their documents. */
export function tenantRoutes(tenants: Tenants, around: Omit<TenantRemoval, 'tenants'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants',
      {
        schema: {
          tags: ['admin'],
          summary: 'List tenants, newest first',
          operationId: 'listTenants',
          querystring: strict(longRowsPageFields),
          response: { 200: listResponse('tenants', Tenant), ...errorResponses },
        },
        serializerCompiler: asStored,
      },
      async (request) => {
        const { rows, nextCursor } = await tenants.list(readPage(request.query))
        return listBody('tenants', rows.map(toWire), nextCursor)
      },
    )

    app.get(
      '/api/v1/admin/tenants/:tenant_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read a tenant',
          operationId: 'getTenant',
          params: TenantParams,
          response: { 200: TenantAnswer, ...errorResponses },
        },
        serializerCompiler: asStored,
      },
      async (request, reply) => {
        const tenant = await tenants.get(request.params.tenant_id)
        reply.header('etag', tenant.etag)
        return { ok: true as const, ...toWire(tenant) }
      },
    )

    app.put(
      '/api/v1/admin/tenants/:tenant_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Create or replace a tenant',
          operationId: 'putTenant',
          params: TenantParams,
          headers: WriteHeaders,
          body: TenantDocument,
          response: { 200: WriteAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const conditions = { ifMatch: request.headers['if-match'], ifNoneMatch: request.headers['if-none-match'] }
        const { tenantId, etag, warnings } = await tenants.put(
          request.params.tenant_id,
          request.body,
          conditions,
          actorOf(request),
        )
        reply.header('etag', etag)
        return { ok: true as const, tenant_id: tenantId, etag, ...(warnings.length > 0 && { warnings }) }
      },
    )

    app.delete(
      '/api/v1/admin/tenants/:tenant_id',
      {
        schema: {
          tags: ['admin'],
          summary: 'Delete a tenant and everything of it',
          operationId: 'deleteTenant',
          params: TenantParams,
          headers: DeleteHeaders,
          querystring: strict({
            force: Type.Optional(
              Type.Boolean({
                default: false,
                description: 'Ends the live calls of the tenant, which prevent it otherwise.',
              }),
            ),
          }),
          response: { 200: DeleteAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const { tenant_id: tenantId } = request.params
        const { force = false } = request.query
        const wanted = { force, ifMatch: request.headers['if-match'], by: actorOf(request) }
        await removeTenant({ tenants, ...around }, tenantId, wanted)
        return { ok: true as const, tenant_id: tenantId }
      },
    )
  }
}

function toWire({ tenantId, config, etag }: ShownTenant) {
  return { tenant_id: tenantId, config, etag }
}

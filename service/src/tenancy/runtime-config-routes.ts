import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import { actorOf } from '../platform/http/guards.ts'
import { errorResponses, IfMatchHeader, Ok } from '../platform/http/schemas.ts'
import { RuntimeConfig, runtimeConfigOf, withRuntimeConfig } from './runtime-config.ts'
import type { ValidateTenant } from './tenant-validation.ts'
import { TenantParams, Warnings } from './tenant-values.ts'
import type { ShownTenant, Tenants } from './tenants.ts'

const AnyDocument = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'A tenant document, sound or not.',
})
const Runtime = Type.Unsafe<unknown>({ description: 'What would run, defaults applied, secrets left out.' })
const ValidateAnswer = Type.Object({
  ok: Type.Boolean(),
  error: Type.Union([Type.String(), Type.Null()], {
    description: 'What a PUT would refuse, a sentence for each fault, 20 at most.',
  }),
  runtime: Runtime,
})
const shownConfig = {
  ok: Ok,
  tenant_id: Type.String(),
  runtime_config: RuntimeConfig,
  etag: Type.String({ description: "That of the tenant's document." }),
}
const ConfigAnswer = Type.Object(shownConfig)
const WrittenConfig = Type.Object({ ...shownConfig, warnings: Warnings })

/** As with whole documents: what an older version took goes out as it is stored. */
const asStored = () => (answer: unknown) => JSON.stringify(answer)

/** Trying a document out, and changing that part of one which is changed while calls go on. */
export function runtimeConfigRoutes(tenants: Tenants, validate: ValidateTenant): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/admin/tenants/validate',
      {
        config: { answersTextFaults: true },
        schema: {
          tags: ['admin'],
          summary: 'Say what is wrong with a tenant document, or what would run by it',
          operationId: 'validateTenant',
          body: AnyDocument,
          response: { 200: ValidateAnswer, ...errorResponses },
        },
        serializerCompiler: asStored,
      },
      async (request) => {
        const { error, runtime } = await validate(request.body)
        return { ok: error === null, error, runtime }
      },
    )

    app.get(
      '/api/v1/admin/tenants/:tenant_id/runtime-config',
      {
        schema: {
          tags: ['admin'],
          summary: "Read a tenant's runtime settings",
          operationId: 'getRuntimeConfig',
          params: TenantParams,
          response: { 200: ConfigAnswer, ...errorResponses },
        },
        serializerCompiler: asStored,
      },
      async (request, reply) => {
        const tenant = await tenants.get(request.params.tenant_id)
        reply.header('etag', tenant.etag)
        return toWire(tenant)
      },
    )

    app.put(
      '/api/v1/admin/tenants/:tenant_id/runtime-config',
      {
        schema: {
          tags: ['admin'],
          summary: "Change some of a tenant's runtime settings",
          operationId: 'putRuntimeConfig',
          params: TenantParams,
          headers: IfMatchHeader,
          body: RuntimeConfig,
          response: { 200: WrittenConfig, ...errorResponses },
        },
        serializerCompiler: asStored,
      },
      async (request, reply) => {
        const change = tenants.change(
          request.params.tenant_id,
          (document) => withRuntimeConfig(document, request.body),
          { ifMatch: request.headers['if-match'] },
          actorOf(request),
        )
        const tenant = await change.catch(asSent)
        reply.header('etag', tenant.etag)
        return { ...toWire(tenant), ...(tenant.warnings.length > 0 && { warnings: tenant.warnings }) }
      },
    )
  }
}

function toWire({ tenantId, config, etag }: ShownTenant) {
  return { ok: true as const, tenant_id: tenantId, runtime_config: runtimeConfigOf(config), etag }
}

/** A fault of the webhook's address is told by the name that it has here. */
function asSent(error: unknown): never {
  if (!(error instanceof AppError) || !error.details) throw error
  const [first, ...others] = error.details.map(({ path, message }) => {
    return { path: path === '/body/webhook/url' ? '/body/webhook_url' : path, message }
  })
  throw first ? invalidRequest([first, ...others]) : error
}

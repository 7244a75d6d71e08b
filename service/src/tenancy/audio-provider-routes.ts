import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS } from '../kernel/pages.ts'
import { errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import { listTenantAudio, type TenantAudio } from './audio-providers.ts'

const Count = Type.Integer({ minimum: 0 })
const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LIMIT_ROWS, default: DEFAULT_LIMIT_ROWS }))

const AudioItem = Type.Object({
  tenant_id: Type.String(),
  cached: Type.Boolean(),
  configured: Type.String(),
  effective: Type.String(),
  fallback_reason: nullable(Type.String()),
})
const AudioProviders = Type.Object({
  ok: Ok,
  cached_tenants: Count,
  configured_primary: Count,
  configured_secondary: Count,
  count: Count,
  effective_primary: Count,
  effective_secondary: Count,
  evaluated_tenants: Count,
  fallback_active: Count,
  fallback_not_configured: Count,
  fallback_unavailable: Count,
  include_uncached_requested: Type.Boolean(),
  items: Type.Array(AudioItem),
  uncached_scan_supported: Type.Boolean(),
  uncached_tenants: Count,
})

type Deps = Parameters<typeof listTenantAudio>[0] & {
  /** Whether tenants are kept where they can be read without being in memory. */
  isKept: boolean
}

/** Whose voice tenants ask for, and whose they get. */
export function audioProviderRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/audio-providers',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read whose voice tenants ask for, and whose their calls would get now',
          operationId: 'getAudioProviders',
          querystring: strict({ limit, include_uncached: Type.Optional(Type.Boolean()) }),
          response: { 200: AudioProviders, ...errorResponses },
        },
      },
      async (request) => {
        const { limit: rows = DEFAULT_LIMIT_ROWS, include_uncached: includeUncached = false } = request.query
        const { isKept } = deps
        const tenants = await listTenantAudio(deps, { limit: rows, includeUncached: includeUncached && isKept })
        return audioBody(tenants, { isKept, includeUncached })
      },
    )
  }
}

function audioBody(tenants: TenantAudio[], { isKept, includeUncached }: { isKept: boolean; includeUncached: boolean }) {
  const count = (isMeant: (tenant: TenantAudio) => boolean) => tenants.filter(isMeant).length
  return {
    ok: true as const,
    cached_tenants: count(({ isCached }) => isCached),
    configured_primary: count(({ configured }) => configured === 'primary'),
    configured_secondary: count(({ configured }) => configured === 'secondary'),
    count: tenants.length,
    effective_primary: count(({ effective }) => effective === 'primary'),
    effective_secondary: count(({ effective }) => effective === 'secondary'),
    evaluated_tenants: tenants.length,
    fallback_active: count(({ fallbackReason }) => fallbackReason !== null),
    fallback_not_configured: count(({ fallbackReason }) => fallbackReason === 'not_configured'),
    fallback_unavailable: count(({ fallbackReason }) => fallbackReason === 'unavailable'),
    include_uncached_requested: includeUncached,
    items: tenants.map(({ tenantId, isCached, configured, effective, fallbackReason }) => {
      return { tenant_id: tenantId, cached: isCached, configured, effective, fallback_reason: fallbackReason }
    }),
    uncached_scan_supported: isKept,
    uncached_tenants: count(({ isCached }) => !isCached),
  }
}

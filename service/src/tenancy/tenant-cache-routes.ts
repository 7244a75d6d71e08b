import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import { errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import type { Log } from '../platform/log.ts'
import { listTenantAudio, type TenantAudio } from './audio-providers.ts'
import { AuthTransport } from './auth-transport.ts'
import { diagnosticsOf, reloadCached, type TenantSurroundings } from './cached-tenants.ts'
import type { Credentials } from './credentials.ts'
import type { TenantCache } from './tenant-cache.ts'
import type { TelephonyDefaults } from './tenant-runtime.ts'

type Deps = TenantSurroundings & {
  /** Whether there is a database, with tenants in it that are not cached. */
  isKept: boolean
  db: Db
  log: Pick<Log, 'error'>
  cache: TenantCache
  credentials: Pick<Credentials, 'metrics'>
  telephony: TelephonyDefaults
  authTransport: AuthTransport
}

const Count = Type.Integer({ minimum: 0 })
const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LIMIT_ROWS, default: DEFAULT_LIMIT_ROWS }))

const CachedTenant = Type.Object({
  tenant_id: Type.String(),
  org_id: nullable(Type.String()),
  active_sessions: Count,
  audio_output_provider: Type.String(),
  secondary_audio_configured: Type.Boolean(),
  secondary_audio_ready: Type.Boolean(),
  stream_broker_configured: Type.Boolean(),
  log_subscribers: Count,
  telephony_configured: Type.Boolean(),
})
const counters = { evictions: Count, hits: Count, misses: Count, reloads: Count }
const Metrics = Type.Object({ ok: Ok, auth_transport: AuthTransport, cache_entries: Count, ...counters })
const TokenMetrics = Type.Object({
  cache_key: Type.String({ description: 'sha256: and 12 hex digits of the hash of the credential.' }),
  cache_present: Type.Boolean(),
  ...counters,
  tenant_id: Type.String(),
})
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

const DEFAULT_IDLE_SECONDS = 3_600
const LONGEST_IDLE_SECONDS = 1_000_000_000

/** What this node remembers of tenants and their credentials, and making it forget. */
export function tenantCacheRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { cache, credentials } = deps
  return async (app) => {
    app.get(
      '/api/v1/admin/tenants/cached',
      {
        schema: {
          tags: ['admin'],
          summary: 'List the tenants that this node has in memory, those used last first',
          operationId: 'listCachedTenants',
          response: {
            200: Type.Object({ ok: Ok, count: Count, tenants: Type.Array(CachedTenant) }),
            ...errorResponses,
          },
        },
      },
      async () => {
        const entries = cache.entries().toReversed()
        const tenants = entries.map((entry) => diagnosticsOf(entry, deps))
        return { ok: true as const, count: tenants.length, tenants }
      },
    )

    app.get(
      '/api/v1/admin/tenants/cache-metrics',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read how the memory of tenants does',
          operationId: 'getTenantCacheMetrics',
          response: { 200: Metrics, ...errorResponses },
        },
      },
      async () => {
        const { authTransport: auth_transport } = deps
        return { ok: true as const, auth_transport, cache_entries: cache.size, ...cache.counters }
      },
    )

    app.get(
      '/api/v1/admin/tenants/cache-metrics/by-token',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read how the memory of credentials does, those used last first',
          operationId: 'getCredentialCacheMetrics',
          querystring: strict({ limit }),
          response: { 200: Type.Object({ ok: Ok, count: Count, items: Type.Array(TokenMetrics) }), ...errorResponses },
        },
      },
      async (request) => {
        const metrics = credentials.metrics(request.query.limit ?? DEFAULT_LIMIT_ROWS)
        const items = metrics.map(({ cacheKey, isCached, tenantId, ...counts }) => {
          return { cache_key: cacheKey, cache_present: isCached, tenant_id: tenantId, ...counts }
        })
        return { ok: true as const, count: items.length, items }
      },
    )

    app.post(
      '/api/v1/admin/tenants/evict-idle',
      {
        schema: {
          tags: ['admin'],
          summary: 'Forget the tenants that no call has asked for lately',
          operationId: 'evictIdleTenants',
          querystring: strict({
            max_idle_secs: Type.Optional(
              Type.Integer({ minimum: 0, maximum: LONGEST_IDLE_SECONDS, default: DEFAULT_IDLE_SECONDS }),
            ),
          }),
          response: { 200: Type.Object({ ok: Ok, evicted: Count, remaining: Count }), ...errorResponses },
        },
      },
      async (request) => {
        const { max_idle_secs: maxIdleSeconds = DEFAULT_IDLE_SECONDS } = request.query
        const evicted = cache.evictIdle(maxIdleSeconds * 1_000)
        return { ok: true as const, evicted, remaining: cache.size }
      },
    )

    app.post(
      '/api/v1/admin/tenants/reload-cached',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read the tenants in memory again',
          operationId: 'reloadCachedTenants',
          response: {
            200: Type.Object({
              ok: Ok,
              attempted: Count,
              reloaded: Count,
              failures: Type.Array(Type.Object({ error: Type.String(), tenant_id: Type.String() })),
            }),
            ...errorResponses,
          },
        },
      },
      async () => {
        const { failures, ...counts } = await reloadCached(cache, deps.log)
        const told = failures.map(({ tenantId: tenant_id, error }) => ({ error, tenant_id }))
        return { ok: true as const, ...counts, failures: told }
      },
    )

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

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS } from '../kernel/pages.ts'
import type { Db } from '../platform/db/schema.ts'
import { errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import type { Log } from '../platform/log.ts'
import { audioProviderRoutes } from './audio-provider-routes.ts'
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
const DEFAULT_IDLE_SECONDS = 3_600

/** What this node remembers of tenants and their credentials, and making it forget. */
export function tenantCacheRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await app.register(memoryRoutes(deps))
    await app.register(forgettingRoutes(deps))
    await app.register(metricsRoutes(deps))
    await app.register(audioProviderRoutes(deps))
  }
}

function memoryRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { cache } = deps
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
  }
}

function metricsRoutes({ cache, credentials, authTransport: auth_transport }: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
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
  }
}

function forgettingRoutes({ cache, log }: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/admin/tenants/evict-idle',
      {
        schema: {
          tags: ['admin'],
          summary: 'Forget the tenants that no call has asked for lately',
          operationId: 'evictIdleTenants',
          querystring: strict({
            max_idle_secs: Type.Optional(
              Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: DEFAULT_IDLE_SECONDS }),
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
        const { failures, ...counts } = await reloadCached(cache, log)
        const told = failures.map(({ tenantId: tenant_id, error }) => ({ error, tenant_id }))
        return { ok: true as const, ...counts, failures: told }
      },
    )
  }
}

import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeSealer, sha256 } from '../kernel/seal.ts'
import { makeLog } from '../platform/log.ts'
import { makeCredentials } from './credentials.ts'
import { TenantCache } from './tenant-cache.ts'
import { tenantCacheRoutes } from './tenant-cache-routes.ts'
import { makeTenantSource } from './tenant-source.ts'
import { makeTenants } from './tenants.ts'

const telephony = { account_sid: null, auth_token: null, from_number: null }
const authTransport = {
  legacy_query_auth_enabled: false,
  stream_auth_previous_configured: false,
  stream_auth_primary_configured: true,
  stream_auth_secret_count: 1,
}

const test = useDatabase()
const around = { hasKey: true, isUp: true, sessions: new Map<string, number>() }
const sealer = makeSealer(Buffer.alloc(32, 7))
const log = makeLog({ level: 'silent', secrets: [] })

/** One node: what it remembers is gone before each test. */
let node: ReturnType<typeof makeNode>

function makeNode() {
  const { db } = test
  const clock = new TestClock()
  const cache = new TenantCache({ clock, source: makeTenantSource({ db, log, sealer, telephony }) })
  const credentials = makeCredentials({ db, clock, log, legacyEnabled: true })
  const tenants = makeTenants({ db, clock, sealer, defaultTelephonyToken: false, onChange: () => {} })
  return { clock, cache, credentials, tenants }
}

const admin = useAdminServer(() => {
  node = makeNode()
  const { cache, credentials } = node
  return [
    tenantCacheRoutes({
      isKept: true,
      ...{ db: test.db, log, telephony, authTransport, cache, credentials, hasStreamBroker: false },
      secondary: {
        get hasKey() {
          return around.hasKey
        },
        isAvailable: () => around.isUp,
      },
      activeSessions: (tenantId) => around.sessions.get(tenantId) ?? 0,
      logSubscribers: () => 0,
    }),
  ]
})

async function store(id: string, document: Record<string, unknown> = {}): Promise<void> {
  await node.tenants.put(id as TenantId, { ...document, tenant_id: id as TenantId }, {}, THE_SYSTEM)
}

const use = (id: string) => node.cache.get(id as TenantId)

beforeEach(async () => {
  for (const { runtime } of node.cache.entries()) node.cache.invalidate(runtime.tenant_id)
  Object.assign(around, { hasKey: true, isUp: true })
  around.sessions.clear()
})

describe('GET tenants/cached', () => {
  it('shows what is in memory, used last first', async () => {
    const audio_output = { provider: 'secondary', voice_id: 'v1' }
    await store('acme', { org_id: 'org-1', audio_output, telephony: { account_sid: 'AC1', auth_token: 'secret' } })
    await store('globex')
    await store('unused')
    await use('globex')
    await use('acme')
    around.sessions.set('acme', 2)
    expect(await admin.call('GET', '/tenants/cached')).toEqual({
      status: 200,
      body: {
        ok: true,
        count: 2,
        tenants: [
          {
            tenant_id: 'acme',
            org_id: 'org-1',
            active_sessions: 2,
            audio_output_provider: 'secondary',
            secondary_audio_configured: true,
            secondary_audio_ready: true,
            stream_broker_configured: false,
            log_subscribers: 0,
            telephony_configured: true,
          },
          expect.objectContaining({
            tenant_id: 'globex',
            org_id: null,
            secondary_audio_configured: false,
            telephony_configured: false,
          }),
        ],
      },
    })
  })
})

describe('GET tenants/cache-metrics', () => {
  it('counts hits, misses and what is there', async () => {
    await store('acme')
    const before = (await admin.call<Record<string, number>>('GET', '/tenants/cache-metrics')).body
    await use('acme')
    await use('acme')
    const { status, body } = await admin.call<Record<string, number>>('GET', '/tenants/cache-metrics')
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        auth_transport: authTransport,
        cache_entries: 1,
        hits: (before['hits'] ?? 0) + 1,
        misses: (before['misses'] ?? 0) + 1,
        reloads: before['reloads'],
        evictions: before['evictions'],
      },
    ])
  })
})

describe('GET tenants/cache-metrics/by-token', () => {
  const PATH = '/tenants/cache-metrics/by-token'

  it('counts by credential, and never shows one', async () => {
    const token = 'a-legacy-token-of-acme'
    await store('acme', { auth_token: token })
    await node.credentials.findTenant(token)
    await node.credentials.findTenant(token)
    await node.clock.advance(600)
    const item = { cache_key: `sha256:${sha256(token).toString('hex').slice(0, 12)}`, tenant_id: 'acme', evictions: 0 }
    expect(await admin.call('GET', `${PATH}?limit=1`)).toEqual({
      status: 200,
      body: { ok: true, count: 1, items: [{ ...item, cache_present: false, hits: 1, misses: 1, reloads: 0 }] },
    })
    await node.credentials.findTenant(token)
    const { body } = await admin.call('GET', PATH)
    expect(body).toMatchObject({ items: [{ ...item, cache_present: true, hits: 1, misses: 1, reloads: 1 }] })
    expect(JSON.stringify(body)).not.toContain(token)
  })

  it('counts nothing that is no credential, and takes a limit of 0', async () => {
    await node.credentials.findTenant('nobody-has-this-token')
    const { body } = await admin.call<{ items: { cache_key: string }[] }>('GET', PATH)
    const key = sha256('nobody-has-this-token').toString('hex').slice(0, 12)
    expect(body.items.map(({ cache_key }) => cache_key)).not.toContain(`sha256:${key}`)
    expect(await admin.call('GET', `${PATH}?limit=0`)).toMatchObject({ status: 200, body: { count: 0, items: [] } })
    expect(await admin.call('GET', `${PATH}?limit=-1`)).toMatchObject({ status: 400 })
  })
})

describe('POST tenants/evict-idle', () => {
  it('forgets those that were not used for longer', async () => {
    await store('acme')
    await store('globex')
    await use('acme')
    await node.clock.advance(10_000)
    await use('globex')
    expect(await admin.call('POST', '/tenants/evict-idle?max_idle_secs=10')).toMatchObject({
      body: { evicted: 0, remaining: 2 },
    })
    expect(await admin.call('POST', '/tenants/evict-idle?max_idle_secs=9')).toEqual({
      status: 200,
      body: { ok: true, evicted: 1, remaining: 1 },
    })
    expect(node.cache.entries()).toMatchObject([{ runtime: { tenant_id: 'globex' } }])
    expect(await use('acme')).toMatchObject({ tenant_id: 'acme' })
  })

  it('forgets none that has been idle for less than ever so long', async () => {
    await store('acme')
    await use('acme')
    await node.clock.advance(10_000)
    expect(await admin.call('POST', '/tenants/evict-idle?max_idle_secs=9007199254740991')).toEqual({
      status: 200,
      body: { ok: true, evicted: 0, remaining: 1 },
    })
  })

  it.each(['-1', 'soon', '1.5'])('refuses max_idle_secs=%s', async (seconds) => {
    const answer = await admin.call('POST', `/tenants/evict-idle?max_idle_secs=${seconds}`)
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '/query/max_idle_secs' }] } })
  })
})

describe('POST tenants/reload-cached', () => {
  it('reads all of them again at once, and tells those that are gone or cannot be read', async () => {
    await store('acme', { name: 'one' })
    await store('globex')
    await store('initech', { auth_token: 'a-legacy-token-of-initech' })
    for (const id of ['acme', 'globex', 'initech']) await use(id)
    await store('acme', { name: 'two' })
    await node.tenants.remove('globex' as TenantId, THE_SYSTEM)
    const document = JSON.stringify({ tenant_id: 'initech', auth_token: 'was-never-sealed' })
    await test.db
      .updateTable('tenants')
      .set({ document })
      .where('tenant_id', '=', 'initech' as TenantId)
      .execute()
    const { status, body } = await admin.call<{ failures: unknown[] }>('POST', '/tenants/reload-cached')
    expect([status, body]).toMatchObject([200, { ok: true, attempted: 3, reloaded: 1 }])
    expect(body.failures).toHaveLength(2)
    expect(body.failures).toEqual(
      expect.arrayContaining([
        { tenant_id: 'globex', error: expect.stringContaining('no such tenant') },
        { tenant_id: 'initech', error: expect.stringContaining('cannot be read') },
      ]),
    )
    const names = node.cache.entries().map(({ runtime }) => [runtime.tenant_id, runtime.name])
    expect(names).toEqual(expect.arrayContaining([['acme', 'two']]))
    expect(names).toEqual(expect.arrayContaining([['initech', null]]))
    expect(names).toHaveLength(2)
  })
})

describe('GET tenants/audio-providers', () => {
  const PATH = '/tenants/audio-providers'
  const asksFor = (voice_id: string | null) => ({ audio_output: { provider: 'secondary', voice_id } })

  beforeEach(async () => {
    await test.db.deleteFrom('tenants').execute()
    await store('plain')
    await store('voiced', asksFor('v1'))
    await store('voiceless', asksFor(null))
    await store('stored', asksFor('v2'))
    for (const id of ['plain', 'voiced', 'voiceless']) await use(id)
  })

  it('counts what cached tenants ask for and what their calls would get', async () => {
    expect(await admin.call('GET', PATH)).toEqual({
      status: 200,
      body: {
        ok: true,
        ...{ cached_tenants: 3, uncached_tenants: 0, evaluated_tenants: 3, count: 3 },
        ...{ configured_primary: 1, configured_secondary: 2, effective_primary: 2, effective_secondary: 1 },
        ...{ fallback_active: 1, fallback_not_configured: 1, fallback_unavailable: 0 },
        ...{ include_uncached_requested: false, uncached_scan_supported: true },
        items: [
          {
            tenant_id: 'voiceless',
            cached: true,
            configured: 'secondary',
            effective: 'primary',
            fallback_reason: 'not_configured',
          },
          { tenant_id: 'voiced', cached: true, configured: 'secondary', effective: 'secondary', fallback_reason: null },
          { tenant_id: 'plain', cached: true, configured: 'primary', effective: 'primary', fallback_reason: null },
        ],
      },
    })
  })

  it('goes on with stored ones when asked to, up to the limit', async () => {
    const all = await admin.call('GET', `${PATH}?include_uncached=true`)
    expect(all).toMatchObject({ body: { count: 4, cached_tenants: 3, uncached_tenants: 1, effective_secondary: 2 } })
    expect(await admin.call('GET', `${PATH}?include_uncached=true&limit=3`)).toMatchObject({
      body: { count: 3, uncached_tenants: 0 },
    })
    expect(await admin.call('GET', `${PATH}?limit=0`)).toMatchObject({ status: 200, body: { count: 0, items: [] } })
  })

  it('says why calls fall back', async () => {
    around.isUp = false
    expect(await admin.call('GET', PATH)).toMatchObject({
      body: { fallback_active: 2, fallback_unavailable: 1, fallback_not_configured: 1 },
    })
    around.hasKey = false
    expect(await admin.call('GET', PATH)).toMatchObject({
      body: { fallback_active: 2, fallback_unavailable: 0, fallback_not_configured: 2 },
    })
  })

  it.each(['limit=x', 'limit=501', 'include_uncached=maybe', 'all=true'])('refuses ?%s', async (query) => {
    expect(await admin.call('GET', `${PATH}?${query}`)).toMatchObject({ status: 400 })
  })
})

it.each([
  ['GET', '/tenants/cached'],
  ['GET', '/tenants/cache-metrics'],
  ['GET', '/tenants/cache-metrics/by-token'],
  ['POST', '/tenants/evict-idle'],
  ['POST', '/tenants/reload-cached'],
  ['GET', '/tenants/audio-providers'],
] as const)('nobody without the admin key may %s %s', async (method, path) => {
  expect(await admin.call(method, path, { adminKey: null })).toMatchObject({ status: 401 })
})

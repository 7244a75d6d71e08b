import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { Person } from '../../kernel/actor.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId, type TenantId, type UserId } from '../../kernel/ids.ts'
import { aloneRateCounter } from '../cluster/shared-rate-counter.ts'
import { adminGuard, tenantGuard } from './guards.ts'
import { testServer } from './http.fixture.ts'
import type { People } from './people.ts'
import { makeRateLimits } from './rate-limits.ts'
import type { TrustProxy } from './trust.ts'

const ADMIN = { 'x-admin-key': 'ak_of_the_rate_limit_tests' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const VIEWER: Person = {
  ...({ kind: 'person', name: 'vi@small.example', role: 'viewer' } as const),
  ...{ tenantId: 'small' as TenantId, userId: newId<UserId>(0) },
}
const ORIGIN = 'http://localhost:8080'
const cookie = (origin = ORIGIN) => ({ cookie: `parley_admin=${'v'.repeat(43)}`, origin })

/** A viewer of the tenant `small` is logged in, who may read things. */
const people: People = {
  isEnabled: true,
  find: async () => VIEWER,
  mayDo: (_role, method, route) => method === 'GET' && !route.includes('/users'),
  origin: () => ORIGIN,
}

/** A server with a tenant's routes, an administrator's, open ones and some that are neither. */
function limited({ trustProxy = false, perAddress = 60 }: { trustProxy?: TrustProxy; perAddress?: number } = {}) {
  const clock = new TestClock()
  const registry = new Registry()
  const rateLimits = makeRateLimits({
    clock,
    counter: aloneRateCounter(clock),
    registry,
    perAddress,
    limitOf: async (tenantId) => (tenantId === 'small' ? 5 : 1_000),
  })
  const { server } = testServer({ trustProxy, rateLimits })
  server.addHook('onRequest', adminGuard({ adminKey: ADMIN['x-admin-key'], people }))
  server.addHook('onRequest', rateLimits.asWhoever)
  server.get('/api/v1/admin/things', async () => ({ ok: true }))
  server.get('/api/v1/admin/tenants/:tenant_id/users', async () => ({ ok: true }))
  server.get('/livez', async () => ({ ok: true }))
  server.register(async (tenant) => {
    const known = new Set(['small', 'big'])
    tenant.addHook(
      'onRequest',
      tenantGuard({ people, findTenant: async (token) => (known.has(token) ? { tenantId: token as TenantId } : null) }),
    )
    tenant.addHook('onRequest', rateLimits.asTenant)
    tenant.get('/api/v1/things', async () => ({ ok: true }))
    tenant.post('/api/v1/things', async () => ({ ok: true }))
    tenant.get('/api/v1/things/:id', async () => ({ ok: true }))
  })
  server.register(async (open) => {
    open.addHook('onRequest', rateLimits.asStranger)
    open.get('/docs', async () => ({ ok: true }))
    open.get('/login', async () => {
      throw new AppError('unauthorized', 'The password is wrong.')
    })
  })
  type Sent = { method?: 'GET' | 'POST' | 'OPTIONS'; headers?: Record<string, string>; remoteAddress?: string }
  server.post('/callback', async () => ({ ok: true }))
  const get = (url: string, { method = 'GET', headers = {}, remoteAddress = '192.0.2.1' }: Sent = {}) =>
    server.inject({ method, url, headers, remoteAddress })
  async function statuses(times: number, url: string, sent?: Sent): Promise<number[]> {
    const seen: number[] = []
    for (let n = 0; n < times; n += 1) seen.push((await get(url, sent)).statusCode)
    return [...new Set(seen)]
  }
  return { clock, registry, get, statuses }
}

describe('requests without a valid credential', () => {
  it.each([
    ['to an unknown address', '/wp-login.php', {}, 404],
    ['to an address that cannot be read', '/%zz', {}, 400],
    ['to one that cannot be read below a guard', '/api/v1/admin/%zz', ADMIN, 400],
    ['with a part that is too long', `/api/v1/things/${'x'.repeat(1_001)}`, {}, 400],
    ['without a credential', '/api/v1/things', {}, 401],
    ['with a wrong one', '/api/v1/things', bearer('guessed'), 401],
    ['of an administrator without a key', '/api/v1/admin/things', {}, 401],
    ['of an administrator with a wrong one', '/api/v1/admin/things', { 'x-admin-key': 'guessed' }, 401],
    ['to an open page', '/docs', {}, 200],
    ['that an open page refuses', '/login', {}, 401],
    ['by a method that the address does not take', '/callback', {}, 405],
  ])('%s are 60 in a minute from an address; the 61st is a 429', async (_what, url, headers, status) => {
    const { statuses, get, clock } = limited()
    expect(await statuses(60, url, { headers })).toEqual([status])
    const refused = await get(url, { headers })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({
      'retry-after': '61',
      'ratelimit-policy': '"address";q=60;w=60',
      ratelimit: '"address";r=0;t=61',
    })
    expect(refused.json()).toMatchObject({ ok: false, code: 'rate_limited', error: expect.stringContaining('61 s') })
    expect((await get(url, { headers, remoteAddress: '192.0.2.2' })).statusCode).toBe(status)
    await clock.advance(61_000)
    expect((await get(url, { headers })).statusCode).toBe(status)
  })

  it('are also those that ask what an address takes, and those of a page that uses a cookie behind its back', async () => {
    for (const url of ['/api/v1/things', '/livez', '/nothing']) {
      const { statuses } = limited()
      await statuses(60, url, { method: 'OPTIONS' })
      expect(await statuses(1, url, { method: 'OPTIONS' })).toEqual([429])
    }
    const { statuses } = limited()
    const foreign = { method: 'POST', headers: cookie('https://elsewhere.example') } as const
    expect(await statuses(60, '/api/v1/things', foreign)).toEqual([403])
    expect(await statuses(1, '/api/v1/things', foreign)).toEqual([429])
    expect(await statuses(100, '/api/v1/admin/things', { method: 'OPTIONS', headers: ADMIN })).toEqual([204])
  })

  it('are counted together, and keep nobody out who has one, nor a probe', async () => {
    const { statuses, registry } = limited()
    await statuses(30, '/nothing')
    await statuses(30, '/api/v1/things', { headers: bearer('guessed') })
    expect(await statuses(1, '/docs')).toEqual([429])
    expect(await statuses(5, '/api/v1/things', { headers: bearer('big') })).toEqual([200])
    expect(await statuses(200, '/api/v1/admin/things', { headers: ADMIN })).toEqual([200])
    expect(await statuses(200, '/api/v1/admin/nothing', { headers: ADMIN })).toEqual([404])
    expect(await statuses(200, '/livez')).toEqual([200])
    expect(await registry.metrics()).toContain('http_rate_limited_total{limit="address"} 1')
  })

  it('are those of one client when they come from one /64 of IPv6', async () => {
    const { statuses, get } = limited()
    for (let n = 0; n < 60; n += 1) await get('/nothing', { remoteAddress: `2001:db8:1:2::${n.toString(16)}` })
    expect(await statuses(1, '/nothing', { remoteAddress: '2001:db8:1:2:ffff::1' })).toEqual([429])
    expect(await statuses(1, '/nothing', { remoteAddress: '2001:db8:1:3::1' })).toEqual([404])
  })

  it.each<[string, TrustProxy, (n: number) => string]>([
    ['nobody is trusted to say where it comes from', false, (n) => `198.51.100.${n}`],
    ['a proxy says so, and the client pretends to be others', 1, (n) => `198.51.100.${n}, 203.0.113.9`],
    ['a range is trusted, and the client pretends to come by it', ['192.0.2.0/24'], (n) => `10.0.0.${n}, 203.0.113.9`],
    ['its proxy tells the port of each connection, too', 1, (n) => `203.0.113.9:${50_000 + n}`],
    ['more than an address is claimed', 1, (n) => `${n}, unknown, [::1]:${n}, 203.0.113.9`],
  ])('are those of one client when %s', async (_what, trustProxy, claim) => {
    const { get } = limited({ trustProxy })
    for (let n = 0; n < 60; n += 1) {
      expect((await get('/nothing', { headers: { 'x-forwarded-for': claim(n) } })).statusCode).toBe(404)
    }
    expect((await get('/nothing', { headers: { 'x-forwarded-for': claim(61) } })).statusCode).toBe(429)
  })
})

describe("requests with a tenant's credential", () => {
  it("are as many in a minute as the tenant's limit, whatever address they come from", async () => {
    const { statuses, get, clock } = limited({ perAddress: 1 })
    const headers = bearer('small')
    for (let n = 1; n <= 5; n += 1) {
      const answer = await get('/api/v1/things', { headers, remoteAddress: `192.0.2.${n}` })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers).toMatchObject({
        'ratelimit-policy': '"tenant";q=5;w=60',
        ratelimit: `"tenant";r=${5 - n};t=61`,
      })
    }
    const refused = await get('/api/v1/things', { headers })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('61')
    expect(await statuses(5, '/api/v1/things', { headers: bearer('big') })).toEqual([200])
    // A refusal of a tenant is no stranger's.
    expect(await statuses(1, '/nothing')).toEqual([404])
    await clock.advance(61_000)
    expect(await statuses(1, '/api/v1/things', { headers })).toEqual([200])
  })
})

describe('requests of a person', () => {
  const ANOTHER = { 'x-tenant-id': 'big' }

  it.each([
    ['of the tenant', { url: '/api/v1/things' }, 200],
    ['that their role may not do', { method: 'POST', url: '/api/v1/things' }, 403],
    ['in the name of another tenant', { url: '/api/v1/things', headers: ANOTHER }, 403],
    ['of the administration', { url: '/api/v1/admin/things' }, 200],
    ['of it that their role may not do', { url: '/api/v1/admin/tenants/small/users' }, 403],
    ['of it for another tenant', { url: '/api/v1/admin/tenants/big/users' }, 404],
    ['of it that nothing answers', { url: '/api/v1/admin/nothing' }, 404],
  ] as const)('%s count for the tenant, once each', async (_what, asked, status) => {
    const { statuses, get } = limited({ perAddress: 1 })
    const sent = { ...asked, headers: { ...cookie(), ...('headers' in asked && asked.headers) } }
    expect(await statuses(5, asked.url, sent)).toEqual([status])
    const refused = await get(asked.url, sent)
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'ratelimit-policy': '"tenant";q=5;w=60' })
    expect(await statuses(1, '/api/v1/things', { headers: bearer('small') })).toEqual([429])
    expect(await statuses(1, '/nothing')).toEqual([404])
  })
})

import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { AdminKey } from './admin-key.ts'
import { adminGuard, type FindTenant, isRecognised, tenantGuard, tenantOf } from './guards.ts'
import { testServer } from './http.fixture.ts'
import { strict } from './schemas.ts'

const ADMIN_KEY = 'ak_correct-horse-battery-staple'
const TOKEN = 'pk_acme'

const findAcme: FindTenant = async (token) => (token === TOKEN ? { tenantId: 'acme' as TenantId } : null)

function guarded(key: string | null = ADMIN_KEY, findTenant: FindTenant = findAcme, clock = new TestClock()) {
  const { server } = testServer({ trustProxy: 1 })
  server.addHook('onRequest', adminGuard({ adminKey: key === null ? null : new AdminKey(key, clock) }))
  server.get('/api/v1/admin/tenants', async () => ({ ok: true }))
  server.post('/api/v1/admin/tenants', { schema: { body: strict({}) } }, async () => ({ ok: true }))
  server.get('/api/v1/admin/auth/session', async (request) => ({ authenticated: isRecognised(request) }))
  server.get('/api/v1/administrators', async () => ({ ok: true }))
  server.register(async (app) => {
    app.addHook('onRequest', tenantGuard({ findTenant }))
    app.get('/api/v1/whoami', async (request) => ({ tenant: tenantOf(request) }))
    app.post('/api/v1/calls', { schema: { body: strict({}) } }, async () => ({ ok: true }))
  })
  server.get('/unguarded', async (request) => ({ tenant: tenantOf(request) }))
  return server
}

const asking =
  (server: ReturnType<typeof guarded>) =>
  (key: string, { ip = '203.0.113.7', path = '/tenants' } = {}) =>
    server.inject({ url: `/api/v1/admin${path}`, headers: { 'x-admin-key': key, 'x-forwarded-for': ip } })

describe('adminGuard', () => {
  it('lets the right key in', async () => {
    const answer = await guarded().inject({ url: '/api/v1/admin/tenants', headers: { 'x-admin-key': ADMIN_KEY } })
    expect(answer.statusCode).toBe(200)
  })

  it.each([
    ['no key', {}],
    ['an empty key', { 'x-admin-key': '' }],
    ['a wrong key', { 'x-admin-key': 'ak_wrong' }],
    ['the beginning of the key', { 'x-admin-key': ADMIN_KEY.slice(0, -1) }],
    ['the key in another case', { 'x-admin-key': ADMIN_KEY.toUpperCase() }],
    ['the key twice', { 'x-admin-key': `${ADMIN_KEY}, ${ADMIN_KEY}` }],
    ['the key as a bearer token', { authorization: `Bearer ${ADMIN_KEY}` }],
    ['a tenant key', { authorization: `Bearer ${TOKEN}` }],
    ['a tenant key as admin key', { 'x-admin-key': TOKEN }],
  ])('refuses %s', async (_what, headers) => {
    const answer = await guarded().inject({ url: '/api/v1/admin/tenants', headers })
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized'])
    expect(answer.headers['www-authenticate']).toBe('ApiKey header="x-admin-key"')
  })

  it.each([
    ['/api/v1/admin', 'an unknown path'],
    ['/api/v1/admin/nothing-here', 'an unknown path'],
    ['/api/v1/%61dmin/tenants', 'a path that is encoded'],
    ['/api/v1/admin/tenants?x=1', 'a query'],
    ['/api/v1/admin/%2e%2e/whoami', 'dots'],
  ])('refuses %s as well: %s', async (url) => {
    expect((await guarded().inject({ url })).statusCode).toBe(401)
  })

  it.each(['DELETE', 'OPTIONS', 'PATCH'] as const)(
    'refuses %s before it tells which methods there are',
    async (method) => {
      const answer = await guarded().inject({ method, url: '/api/v1/admin/tenants' })
      expect([answer.statusCode, answer.headers.allow]).toEqual([401, undefined])
    },
  )

  it('looks at no key of an address that has sent ten wrong ones, until the first is a quarter of an hour old', async () => {
    const clock = new TestClock()
    const ask = asking(guarded(ADMIN_KEY, findAcme, clock))
    for (let n = 0; n < 10; n += 1) {
      expect((await ask(`ak_guess_${n}`)).statusCode).toBe(401)
      await clock.advance(1_000)
    }
    const refused = await ask(ADMIN_KEY)
    expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '890',
    ])
    // This address tells whoever asks it who they are.
    expect((await ask(ADMIN_KEY, { path: '/auth/session' })).statusCode).toBe(429)
    expect((await ask(ADMIN_KEY, { ip: '203.0.113.8' })).statusCode).toBe(200)
    await clock.advance(890_000)
    expect((await ask(ADMIN_KEY)).statusCode).toBe(200)
    expect((await ask('ak_guess_11')).statusCode).toBe(401)
    expect((await ask(ADMIN_KEY)).statusCode).toBe(429)
  })

  it('shuts nobody out for one wrong key, however often it is sent', async () => {
    const ask = asking(guarded())
    for (let n = 0; n < 30; n += 1) expect((await ask('ak_of_last_year')).statusCode).toBe(401)
    expect((await ask(ADMIN_KEY)).statusCode).toBe(200)
  })

  it('refuses before the body is read', async () => {
    const request = {
      method: 'POST',
      url: '/api/v1/admin/tenants',
      payload: '{',
      headers: { 'content-type': 'application/json' },
    } as const
    expect((await guarded().inject(request)).statusCode).toBe(401)
  })

  it('leaves other paths alone', async () => {
    expect((await guarded().inject({ url: '/api/v1/administrators' })).statusCode).toBe(200)
  })

  it.each(['/api/v1/admin/tenants', '/api/v1/admin/nothing-here', '/api/v1/admin', '/api/v1/%61dmin/tenants'])(
    'without a configured key does not know %s, whatever is sent',
    async (url) => {
      for (const headers of [{}, { 'x-admin-key': '' }, { 'x-admin-key': 'null' }]) {
        const answer = await guarded(null).inject({ url, headers })
        expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found'])
      }
    },
  )
})

describe('tenantGuard', () => {
  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER  ${TOKEN} `])(
    'tells whose token "%s" is',
    async (authorization) => {
      const answer = await guarded().inject({ url: '/api/v1/whoami', headers: { authorization } })
      expect(answer.json()).toEqual({ tenant: 'acme' })
    },
  )

  it.each([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic cGtfYWNtZTo=' }],
    ['no token', { authorization: 'Bearer ' }],
    ['two words', { authorization: `Bearer ${TOKEN} ${TOKEN}` }],
    ['a very long one', { authorization: `Bearer ${'x'.repeat(513)}` }],
    ['the admin key', { 'x-admin-key': ADMIN_KEY }],
  ])('asks for a token when it was given %s', async (_what, headers) => {
    const answer = await guarded().inject({ url: '/api/v1/whoami', headers })
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized'])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it.each(['pk_other', ADMIN_KEY])('refuses the token %s', async (token) => {
    const answer = await guarded().inject({ url: '/api/v1/whoami', headers: { authorization: `Bearer ${token}` } })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(answer.body).not.toContain(token)
  })

  it('refuses before the body is read', async () => {
    const request = {
      method: 'POST',
      url: '/api/v1/calls',
      payload: '{',
      headers: { 'content-type': 'application/json' },
    } as const
    expect((await guarded().inject(request)).statusCode).toBe(401)
  })

  it('says that it cannot tell when it cannot', async () => {
    const findNone: FindTenant = async () => {
      throw new AppError('unavailable', 'The database does not answer.')
    }
    const server = guarded(ADMIN_KEY, findNone)
    const answer = await server.inject({ url: '/api/v1/whoami', headers: { authorization: `Bearer ${TOKEN}` } })
    expect(answer.statusCode).toBe(503)
  })

  it('is missed by a route that asks for the tenant without it', async () => {
    expect((await guarded().inject({ url: '/unguarded' })).statusCode).toBe(500)
  })
})

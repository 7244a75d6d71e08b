import { describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { adminGuard, type FindTenant, tenantGuard, tenantOf } from './guards.ts'
import { testServer } from './http.fixture.ts'
import { strict } from './schemas.ts'

const ADMIN_KEY = 'ak_correct-horse-battery-staple'
const TOKEN = 'pk_acme'

const findAcme: FindTenant = async (token) => (token === TOKEN ? { tenantId: 'acme' as TenantId } : null)

function guarded(adminKey: string | null = ADMIN_KEY, findTenant: FindTenant = findAcme) {
  const { server } = testServer()
  server.addHook('onRequest', adminGuard({ adminKey }))
  server.get('/api/v1/admin/tenants', async () => ({ ok: true }))
  server.post('/api/v1/admin/tenants', { schema: { body: strict({}) } }, async () => ({ ok: true }))
  server.get('/api/v1/administrators', async () => ({ ok: true }))
  server.register(async (app) => {
    app.addHook('onRequest', tenantGuard({ findTenant }))
    app.get('/api/v1/whoami', async (request) => ({ tenant: tenantOf(request) }))
    app.post('/api/v1/calls', { schema: { body: strict({}) } }, async () => ({ ok: true }))
  })
  server.get('/unguarded', async (request) => ({ tenant: tenantOf(request) }))
  return server
}

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

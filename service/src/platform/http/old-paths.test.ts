import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../kernel/errors.ts'
import { testServer } from './http.fixture.ts'
import { registeredRoutes } from './registered-routes.ts'
import { strict } from './schemas.ts'

const Params = strict({ id: Type.String({ maxLength: 3 }) })

function served() {
  const { server } = testServer()
  server.register(async (app) => {
    app.addHook('onRequest', async ({ headers }) => {
      if (headers.authorization !== 'Bearer right') throw new AppError('unauthorized', 'No.')
    })
    app.get('/api/v1/things/:id', { schema: { params: Params } }, async ({ params }) => ({ params }))
    app.get('/api/v1/streams', { exposeHeadRoute: false }, async () => ({ ok: true }))
    app.post('/api/v1/things', { schema: { body: strict({}) } }, async () => ({ ok: true }))
  })
  server.get('/api/v1/logs', async () => ({ ok: true }))
  server.get('/api/v1/admin/things', async () => ({ ok: true }))
  server.get('/livez', async () => ({ ok: true }))
  return server
}

const headers = { authorization: 'Bearer right' }
const OLD = { deprecation: 'true' }

describe('an old address', () => {
  it.each([
    ['GET', 200],
    ['HEAD', 200],
    ['POST', 405],
  ] as const)('takes %s as its successor does', async (method, status) => {
    const server = served()
    const [now, before] = await Promise.all(
      ['/api/v1/things/one', '/things/one'].map((url) => server.inject({ method, url, headers })),
    )
    expect([now?.statusCode, before?.statusCode]).toEqual([status, status])
    expect(now?.headers['deprecation']).toBeUndefined()
  })

  it('says that it is one, and which address to use', async () => {
    const { headers: answered } = await served().inject({ url: '/things/a%20b?x=1', headers })
    expect(answered).toMatchObject({ ...OLD, link: '</api/v1/things/a%20b>; rel="successor-version"' })
  })

  it.each([
    ['a missing credential', { url: '/things/one' }, 401],
    ['a wrong parameter', { url: '/things/three', headers }, 400],
    ['an unknown field', { url: '/things', method: 'POST', headers, payload: { x: 1 } }, 400],
  ] as const)('refuses %s as its successor does, and says so on the refusal too', async (_what, request, status) => {
    const answer = await served().inject(request)
    expect([answer.statusCode, answer.headers['deprecation']]).toEqual([status, 'true'])
  })

  it.each(['DELETE', 'OPTIONS'] as const)('says so where it does not take %s, too', async (method) => {
    const server = served()
    const answer = await server.inject({ url: '/things?x=1', method })
    expect(answer.headers).toMatchObject({ ...OLD, link: '</api/v1/things>; rel="successor-version"' })
    for (const url of ['/api/v1/things', '/livez', '/api/v1/logs'])
      expect((await server.inject({ url, method })).headers['deprecation']).toBeUndefined()
  })

  it.each(['/logs', '/admin/things', '/api/v1/livez'])('is none of %s', async (url) => {
    const answer = await served().inject({ url, headers })
    expect([answer.statusCode, answer.headers['deprecation']]).toEqual([404, undefined])
  })

  it('has HEAD only where its successor has', async () => {
    const server = served()
    await server.ready()
    const heads = registeredRoutes(server).filter(({ method }) => method === 'HEAD')
    expect(heads.map(({ url }) => url)).not.toContain('/streams')
    const keys = registeredRoutes(server).map(({ method, url }) => `${method} ${url}`)
    expect(keys).toHaveLength(new Set(keys).size)
  })
})

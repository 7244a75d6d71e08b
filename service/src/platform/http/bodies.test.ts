import { gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { testServer } from './http.fixture.ts'
import { strict } from './schemas.ts'

const headers = { 'content-type': 'application/json' }

function serverWithRoutes() {
  const { server } = testServer()
  server.post('/publish', async () => ({ ok: true }))
  server.delete('/things/:id', async () => ({ ok: true }))
  server.post('/things', { schema: { body: strict({ name: Type.String() }) } }, async () => ({ ok: true }))
  return server
}

describe('a route that asks for no body', () => {
  it.each([
    ['POST', '/publish', ''],
    ['POST', '/publish', '{}'],
    ['POST', '/publish', 'null'],
    ['DELETE', '/things/7', ''],
  ] as const)('takes a %s of %s whose JSON is "%s"', async (method, url, payload) => {
    const answer = await serverWithRoutes().inject({ method, url, payload, headers })
    expect([answer.statusCode, answer.json()]).toEqual([200, { ok: true }])
  })

  it.each([
    ['fields', '{"apply":true,"a/b":1}', ['/body/apply', '/body/a~1b']],
    ['a list', '[]', ['/body']],
    ['a text', '"now"', ['/body']],
  ])('refuses %s instead of ignoring them', async (_what, payload, paths) => {
    const answer = await serverWithRoutes().inject({ method: 'POST', url: '/publish', payload, headers })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'invalid_request', details: paths.map((path) => ({ path })) })
  })

  it.each([
    ['{', 'The body is not valid JSON from line 1 column 2 on.'],
    ['{"a": 1,\n "b": 2,\n}', 'The body is not valid JSON from line 3 column 1 on.'],
    ["{'to': '+12025550123'}", 'The body is not valid JSON from line 1 column 2 on.'],
    ['{"token": s3cret}', 'The body is not valid JSON.'],
    ['"s3cret', 'The body is not valid JSON from line 1 column 8 on.'],
    ['[{"a": 1}', 'The body is not valid JSON from line 1 column 10 on.'],
    ['{"a": ', 'The body is not valid JSON: it ends before it is complete.'],
    ['{"a": end of JSON}', 'The body is not valid JSON.'],
    ['\uFEFF{"a": 1,}', 'The body is not valid JSON from line 1 column 9 on.'],
    ['\uFEFF{"__proto__": 1}', 'The body has a member that is named __proto__, or constructor with a prototype in it.'],
    ['{"__proto__": 1}', 'The body has a member that is named __proto__, or constructor with a prototype in it.'],
  ])('refuses %s, says where it is no JSON, and repeats none of it', async (payload, message) => {
    const answer = await serverWithRoutes().inject({ method: 'POST', url: '/publish', payload, headers })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      400,
      { code: 'invalid_request', error: message, details: [{ path: '/body', message }] },
    ])
  })
})

describe('a route that asks for a body', () => {
  it('refuses an empty one', async () => {
    const error = 'The body is missing: it must be an object, in JSON.'
    for (const sent of [{ payload: '', headers }, {}]) {
      const answer = await serverWithRoutes().inject({ method: 'POST', url: '/things', ...sent })
      expect(answer.json()).toMatchObject({ code: 'invalid_request', error, details: [{ path: '/body' }] })
    }
  })

  it('refuses one that is not UTF-8, whatever it says of itself, before a letter of it is lost', async () => {
    const payload = Buffer.from('{"name":"Müller"}', 'latin1')
    for (const type of ['application/json', 'application/json; charset=iso-8859-1']) {
      const answer = await serverWithRoutes().inject({
        ...{ method: 'POST', url: '/things', payload, headers: { 'content-type': type } },
      })
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ code: 'invalid_request', error: expect.stringMatching(/UTF-8/) })
    }
  })

  it.each([
    [{}, 'The body has no content type: send application/json.'],
    [{ 'content-type': 'text/plain' }, 'The body has a content type that is not taken here: send application/json.'],
  ])('says of one with %j which type it is to be of', async (types, error) => {
    const payload = Buffer.from('{"name":"x"}')
    const refused = await serverWithRoutes().inject({ method: 'POST', url: '/things', payload, headers: types })
    expect([refused.statusCode, refused.json().error]).toEqual([415, error])
  })

  it('says of a compressed one what is wrong with it', async () => {
    const send = (encoding: string, payload: Buffer | string) => {
      const encoded = { ...headers, 'content-encoding': encoding }
      return serverWithRoutes().inject({ method: 'POST', url: '/things', payload, headers: encoded })
    }
    const refused = await send('gzip', gzipSync('{"name":"x"}'))
    expect(refused.statusCode).toBe(415)
    expect(refused.json()).toMatchObject({ code: 'unsupported_media_type', error: expect.stringMatching(/compressed/) })
    expect((await send('identity', '{"name":"x"}')).statusCode).toBe(200)
  })
})

describe('a request without a body', () => {
  it.each([
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { 'content-length': '0' }],
    ['POST', {}],
  ] as const)('may say how it would compress one: %s %j', async (method, more) => {
    const { server } = testServer()
    server.get('/things', async () => ({ ok: true }))
    server.post('/things', async () => ({ ok: true }))
    const answer = await server.inject({ method, url: '/things', headers: { 'content-encoding': 'gzip', ...more } })
    expect(answer.statusCode).toBe(200)
  })
})

describe('a body of nothing', () => {
  const FORM = 'application/x-www-form-urlencoded'
  const send = (url: string, type: string, payload = '') => {
    const sent = { 'content-type': type, 'content-length': String(payload.length) }
    return serverWithRoutes().inject({ method: 'POST', url, payload, headers: sent })
  }

  it.each([FORM, 'text/plain', 'application/octet-stream', 'json'])('may be called %s', async (type) => {
    expect((await send('/publish', type)).statusCode).toBe(200)
  })

  it('is missing, whatever it is called, where a route asks for one', async () => {
    const error = 'The body is missing: it must be an object, in JSON.'
    for (const type of [FORM, 'application/json'])
      expect((await send('/things', type)).json()).toMatchObject({ code: 'invalid_request', error })
  })

  it('is one byte shorter than one that is called what is not taken', async () => {
    expect((await send('/publish', FORM, 'a')).statusCode).toBe(415)
  })
})

describe('a route that describes no query', () => {
  const answered = strict({ ok: Type.Boolean() })
  const serverWithReads = () => {
    const { server } = testServer()
    for (const url of ['/api/v1/things', '/healthz'])
      server.get(url, { schema: { response: { 200: answered } } }, async () => ({ ok: true }))
    server.post('/api/v1/told', { schema: { response: { 200: answered } } }, async () => ({ ok: true }))
    for (const surface of ['runtime', 'admin', 'callbacks'])
      server.delete(`/api/v1/${surface}/x`, { schema: { tags: [surface], response: { 200: answered } } }, async () => ({
        ok: true,
      }))
    return server
  }

  it('says of each of its parts, where it is read, that it does not know it', async () => {
    const answer = await serverWithReads().inject('/api/v1/things?agent=x&a%2Fb=1')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      code: 'invalid_request',
      details: ['/query/agent', '/query/a~1b'].map((path) => ({
        path,
        message: 'is not a known parameter: there are none here',
      })),
    })
    expect((await serverWithReads().inject('/api/v1/things')).statusCode).toBe(200)
  })

  it.each(['/api/v1/runtime/x', '/api/v1/admin/x', '/runtime/x'])(
    'does nothing that somebody asked for with a parameter that it does not know: DELETE %s',
    async (url) => {
      const answer = await serverWithReads().inject({ method: 'DELETE', url: `${url}?dry_run=true` })
      expect([answer.statusCode, answer.json().error]).toEqual([
        400,
        'dry_run is not a known parameter: there are none here.',
      ])
      expect((await serverWithReads().inject({ method: 'DELETE', url })).statusCode).toBe(200)
    },
  )

  it.each([
    ['GET', '/healthz?at=1'],
    ['POST', '/api/v1/told?from=us'],
    ['DELETE', '/api/v1/callbacks/x?from=us'],
  ] as const)('lets it be where the address is not of our making: %s %s', async (method, url) => {
    expect((await serverWithReads().inject({ method, url })).statusCode).toBe(200)
  })
})

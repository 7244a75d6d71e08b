import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { AppError, notSetUp } from '../../kernel/errors.ts'
import { SharedClock } from '../../kernel/shared-clock.ts'
import { listen, RawConnection, testServer } from './http.fixture.ts'
import { errorResponses, strict } from './schemas.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** One route of each kind that an error can come out of. */
function serverWithRoutes() {
  const test = testServer({ secrets: ['swordfish-9'] })
  const { server } = test
  server.get('/things/:id', { schema: { params: strict({ id: Type.String() }) } }, async (request) => ({
    id: request.params.id,
  }))
  server.post('/things', { schema: { body: strict({ name: Type.String() }) } }, async (request) => ({
    name: request.body.name,
  }))
  server.get('/broken', async () => {
    throw new Error('relation "tenants" does not exist, password swordfish-9', { cause: new Error('the cause') })
  })
  server.get('/busy', async () => {
    throw new AppError('rate_limited', 'Slow down.', { headers: { 'retry-after': '7' }, detail: 'bucket empty' })
  })
  server.get('/down', async () => {
    throw new AppError('unavailable', 'The database does not answer.', { cause: new Error('ECONNREFUSED') })
  })
  server.get('/no-file', async () => {
    throw Object.assign(new Error("EMFILE: too many open files, open '/secret/place'"), { code: 'EMFILE' })
  })
  server.get('/unset', async () => {
    throw notSetUp('No chat model is configured: set OPENAI_API_KEY.')
  })
  server.get(
    '/lax',
    { schema: { response: { 200: Type.Object({ shown: Type.String() }), ...errorResponses } } },
    async () => ({
      shown: 'yes',
      secret: 'swordfish-9',
    }),
  )
  server.get('/wrong', { schema: { response: { 200: Type.Object({ count: Type.Integer() }) } } }, async () =>
    JSON.parse('{}'),
  )
  return test
}

const json = { 'content-type': 'application/json' }

describe('every error', () => {
  it('leads whoever guesses addresses to those that there are', async () => {
    const { error } = (await serverWithRoutes().server.inject({ method: 'POST', url: '/api/v1/calls' })).json()
    expect(error).toContain('/api-docs/openapi.json')
  })

  it.each([
    ['an unknown address', { url: '/nowhere' }, 404, 'not_found'],
    [
      'an unknown address with a malformed body',
      { method: 'POST', url: '/nowhere', payload: '{', headers: json },
      404,
      'not_found',
    ],
    ['another method', { method: 'DELETE', url: '/things' }, 405, 'method_not_allowed'],
    ['a method nobody has', { method: 'PROPFIND', url: '/things' }, 405, 'method_not_allowed'],
    ['malformed JSON', { method: 'POST', url: '/things', payload: '{"name":', headers: json }, 400, 'invalid_request'],
    ['an empty body', { method: 'POST', url: '/things', payload: '', headers: json }, 400, 'invalid_request'],
    ['no body', { method: 'POST', url: '/things' }, 400, 'invalid_request'],
    ['a body that is a list', { method: 'POST', url: '/things', payload: '[]', headers: json }, 400, 'invalid_request'],
    [
      '__proto__',
      { method: 'POST', url: '/things', payload: '{"name":"x","__proto__":{}}', headers: json },
      400,
      'invalid_request',
    ],
    [
      'constructor',
      { method: 'POST', url: '/things', payload: '{"name":"x","constructor":{"prototype":{}}}', headers: json },
      400,
      'invalid_request',
    ],
    [
      'text',
      { method: 'POST', url: '/things', payload: '{"name":"x"}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a form',
      {
        method: 'POST',
        url: '/things',
        payload: 'name=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'unsupported_media_type',
    ],
    [
      'a content type that is none',
      { method: 'POST', url: '/things', payload: '{}', headers: { 'content-type': 'json' } },
      415,
      'unsupported_media_type',
    ],
    [
      '257 KiB',
      { method: 'POST', url: '/things', payload: JSON.stringify({ name: 'x'.repeat(257 * 1024) }), headers: json },
      413,
      'body_too_large',
    ],
    ['broken percent-encoding', { url: '/things/%zz' }, 400, 'invalid_request'],
    ['half a character in the path', { url: '/things/%c3' }, 400, 'invalid_request'],
    ['a very long part of the path', { url: `/things/${'x'.repeat(501)}` }, 400, 'invalid_request'],
    ['a refusal of ours', { url: '/busy' }, 429, 'rate_limited'],
    ['an outage', { url: '/down' }, 503, 'unavailable'],
    ['no file left to be opened', { url: '/no-file' }, 503, 'unavailable'],
    ['a bug', { url: '/broken' }, 500, 'internal'],
    ['an answer that its schema forbids', { url: '/wrong' }, 500, 'internal'],
  ] as const)('has the same shape: %s', async (_what, request, status, code) => {
    const { server } = serverWithRoutes()
    const answer = await server.inject(request)
    const body = answer.json()
    expect(answer.statusCode).toBe(status)
    expect(body).toEqual({
      ok: false,
      error: expect.stringMatching(/^[A-Z_a-z].*\.$/s),
      code,
      request_id: answer.headers['x-request-id'],
      ...(status === 400 && {
        details: expect.arrayContaining([{ path: expect.stringMatching(/^\//), message: expect.any(String) }]),
      }),
    })
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['x-request-id']).toMatch(UUID)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })

  it('from 500 on tells nothing of its cause, and logs it once', async () => {
    const { server, logLines, logText } = serverWithRoutes()
    const answer = await server.inject({ url: '/broken' })
    expect(answer.body).not.toMatch(/tenants|swordfish|cause|at .*ts/)
    const lines = logLines()
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'request failed'],
      ['error', 'request answered'],
    ])
    expect(lines[0]).toMatchObject({ err: { name: 'Error', cause: { message: 'the cause' } } })
    expect(logText()).not.toContain('swordfish-9')
  })

  it('that is internal hides what it says, also when it is one of ours', async () => {
    const { server } = testServer()
    server.get('/', async () => {
      throw new AppError('internal', 'The row of swordfish is broken.')
    })
    expect((await server.inject({ url: '/' })).body).not.toContain('swordfish')
  })

  it('is logged without a stack where there is no fault to find', async () => {
    const { server, logLines } = serverWithRoutes()
    await server.inject({ url: '/unset' })
    const [line] = logLines()
    expect(line).toMatchObject({ level: 'warn', msg: 'request refused', code: 'unavailable' })
    expect(line).not.toHaveProperty('err')
  })

  it('keeps what is for operators out of the answer and in the log', async () => {
    const { server, logLines } = serverWithRoutes()
    const answer = await server.inject({ url: '/busy' })
    expect(answer.body).not.toContain('bucket')
    expect(logLines()).toContainEqual(
      expect.objectContaining({ msg: 'request refused', err: expect.objectContaining({ detail: 'bucket empty' }) }),
    )
  })

  it('brings the headers that belong to it', async () => {
    const { server } = serverWithRoutes()
    expect((await server.inject({ url: '/busy' })).headers['retry-after']).toBe('7')
  })

  it('says when to come again where that helps alone', async () => {
    const { server } = serverWithRoutes()
    const laterOf = async (url: string) => (await server.inject({ url })).headers['retry-after']
    expect([await laterOf('/down'), await laterOf('/no-file'), await laterOf('/unset')]).toEqual(['5', '5', undefined])
  })

  it('of a method tells which ones there are', async () => {
    const { server } = serverWithRoutes()
    expect((await server.inject({ method: 'DELETE', url: '/things/1?x=1' })).headers.allow).toBe('GET, HEAD, OPTIONS')
    expect((await server.inject({ method: 'GET', url: '/things' })).headers.allow).toBe('POST, OPTIONS')
  })
})

describe('a request', () => {
  it('keeps the id that its client gave it, in the answer and in the log', async () => {
    const { server, logLines } = serverWithRoutes()
    const answer = await server.inject({ url: '/things/1', headers: { 'x-request-id': 'client_id-12345' } })
    expect(answer.headers['x-request-id']).toBe('client_id-12345')
    expect(logLines()[0]).toMatchObject({ request_id: 'client_id-12345', msg: 'request answered' })
  })

  it('is answered with the time of the service, whatever the machine shows', async () => {
    const shared = new SharedClock(systemClock)
    shared.heard(systemClock.now() - 1_800_000, systemClock.monotonicMs())
    const { headers } = await testServer({ clock: shared }).server.inject('/none')
    expect(Math.abs(Number(headers['x-service-time']) - (Date.now() - 1_800_000))).toBeLessThan(60_000)
  })

  it('has its id in the lines of all floors, once, until its answer has begun', async () => {
    const { server, log, logLines } = testServer()
    server.post('/notes', { schema: { body: strict({ name: Type.String() }) } }, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      log.child({ floor: 'kernel' }).info({}, 'below')
      return {}
    })
    server.get('/stream', (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200)
      log.info({}, 'after its head')
      reply.raw.end()
    })
    const headers = { ...json, 'x-request-id': 'client_id-12345' }
    const url = `http://127.0.0.1:${await listen(server)}`
    await fetch(`${url}/notes`, { method: 'POST', headers, body: JSON.stringify({ name: 'x' }) })
    await fetch(`${url}/stream`, { headers })
    log.info({}, 'of nobody')
    const ids = logLines().flatMap(({ msg, request_id: id }) => (msg === 'request answered' ? [] : [[msg, id]]))
    expect(ids).toEqual([
      ['below', 'client_id-12345'],
      ['after its head', undefined],
      ['of nobody', undefined],
    ])
    expect(logLines().filter(({ msg }) => msg === 'request answered')).toEqual(
      Array(2).fill(expect.objectContaining({ request_id: 'client_id-12345' })),
    )
  })

  it.each(['short', 'x'.repeat(65), 'has space1', 'a\u00e9bcdefghij', '12345678"}', '+14155550100'])(
    'gets an id of ours in place of "%s"',
    async (id) => {
      const { server } = serverWithRoutes()
      const answer = await server.inject({ url: '/things/1', headers: { 'x-request-id': id } })
      expect(answer.headers['x-request-id']).toMatch(UUID)
    },
  )

  it('is logged by the pattern of its route, without its address or query', async () => {
    const { server, logLines, logText } = serverWithRoutes()
    await server.inject({ url: '/things/4711?token=opensesame' })
    expect(logLines()).toEqual([
      expect.objectContaining({
        level: 'debug',
        method: 'GET',
        route: '/things/:id',
        status: 200,
        duration_ms: expect.any(Number),
      }),
    ])
    expect(logText()).not.toMatch(/4711|opensesame/)
  })

  it('of HEAD is answered as GET is, without a body', async () => {
    const { server } = serverWithRoutes()
    const answer = await server.inject({ method: 'HEAD', url: '/things/1' })
    expect([answer.statusCode, answer.body, answer.headers['content-length']]).toEqual([200, '', '10'])
  })

  it('of OPTIONS gets the methods of a known path and nothing for other origins', async () => {
    const { server } = serverWithRoutes()
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const answer = await server.inject({ method: 'OPTIONS', url: '/things', headers })
    expect([answer.statusCode, answer.headers.allow]).toEqual([204, 'POST, OPTIONS'])
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect((await server.inject({ method: 'OPTIONS', url: '/nowhere' })).statusCode).toBe(404)
  })

  it('of 256 KiB is taken', async () => {
    const { server } = serverWithRoutes()
    const payload = JSON.stringify({ name: 'x'.repeat(256 * 1024 - 11) })
    expect(payload).toHaveLength(256 * 1024)
    expect((await server.inject({ method: 'POST', url: '/things', payload, headers: json })).statusCode).toBe(200)
  })
})

describe('an answer', () => {
  it('holds only what its schema names', async () => {
    const { server } = serverWithRoutes()
    expect((await server.inject({ url: '/lax' })).json()).toEqual({ shown: 'yes' })
  })

  it('does not tell what serves it', async () => {
    const port = await listen(serverWithRoutes().server)
    const { headers } = await new RawConnection(port).write('GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n').answer()
    expect(Object.keys(headers)).not.toContain('server')
    expect(Object.keys(headers)).not.toContain('x-powered-by')
  })

  it('to a browser allows neither framing nor scripts', async () => {
    const { server } = serverWithRoutes()
    const { headers } = await server.inject({ url: '/things/1' })
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
  })
})

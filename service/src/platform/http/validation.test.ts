import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { testServer } from './http.fixture.ts'
import { KEY_PATTERN, nullable, Phone, strict, Timestamp, TOOL_NAME_PATTERN } from './schemas.ts'
import { prepareChecks } from './server.ts'

type Fault = { path: string; message: string }

/** The faults that the server finds in a body, none when it takes it. */
async function faultsOf(body: TSchema, value: unknown): Promise<Fault[]> {
  const { server } = testServer()
  server.post('/', { schema: { body } }, async () => ({ ok: true }))
  const answer = await server.inject({
    method: 'POST',
    url: '/',
    payload: JSON.stringify(value),
    headers: { 'content-type': 'application/json' },
  })
  const { details = [] } = answer.json<{ details?: Fault[] }>()
  expect(answer.statusCode).toBe(details.length === 0 ? 200 : 400)
  return details
}

async function ask(querystring: TSchema, query: string) {
  const { server } = testServer()
  server.get('/', { schema: { querystring } }, async (request) => ({ query: request.query }))
  return server.inject({ url: `/${query}` })
}

describe('a body of which something must be named', () => {
  it('is told that nothing is, in words', async () => {
    const schema = Type.Object(
      { name: Type.Optional(Type.String()) },
      { additionalProperties: false, minProperties: 1 },
    )
    expect(await faultsOf(schema, {})).toEqual([{ path: '/body', message: 'must not be empty' }])
    expect(await faultsOf(schema, { name: '' })).toEqual([])
  })
})

describe('a body', () => {
  const schema = strict({
    name: Type.String({ minLength: 1, maxLength: 5 }),
    size: Type.Optional(Type.Integer({ minimum: 3, maximum: 600 })),
    color: Type.Optional(Type.Enum(['red', 'green'])),
    nested: Type.Optional(strict({ on: Type.Boolean() })),
    list: Type.Optional(Type.Array(Type.String(), { maxItems: 2, uniqueItems: true })),
  })

  it.each<[value: unknown, path: string, message: string]>([
    [{}, '/body/name', 'is required'],
    [{ name: '' }, '/body/name', 'must not be empty'],
    [{ name: 'abcdef' }, '/body/name', 'must have at most 5 characters'],
    [{ name: 7 }, '/body/name', 'must be a string'],
    [{ name: null }, '/body/name', 'must be a string'],
    [{ name: 'a', size: '7' }, '/body/size', 'must be a whole number'],
    [{ name: 'a', size: 7.5 }, '/body/size', 'must be a whole number'],
    [{ name: 'a', size: 2 }, '/body/size', 'must be at least 3'],
    [{ name: 'a', size: 601 }, '/body/size', 'must be at most 600'],
    [{ name: 'a', color: 'blue' }, '/body/color', 'must be one of red, green'],
    [{ name: 'a', nested: {} }, '/body/nested/on', 'is required'],
    [{ name: 'a', nested: { on: 'true' } }, '/body/nested/on', 'must be true or false'],
    [{ name: 'a', nested: { on: true, off: 1 } }, '/body/nested/off', 'is not a known field: there are on'],
    [{ name: 'a', nested: null }, '/body/nested', 'must be an object'],
    [{ name: 'a', list: ['x', 'x'] }, '/body/list', 'must not hold the same item twice'],
    [{ name: 'a', list: ['x', 'y', 'z'] }, '/body/list', 'must have at most 2 items'],
    [{ name: 'a', list: ['x', 1] }, '/body/list/1', 'must be a string'],
    [{ name: 'a', list: 'x' }, '/body/list', 'must be a list'],
    [{ name: 'a', 'a/b~c': 1 }, '/body/a~1b~0c', 'is not a known field: there are name, size, color, nested, list'],
    [[], '/body', 'must be an object'],
    ['text', '/body', 'must be an object'],
    [null, '/body', 'is missing: it must be an object, in JSON'],
  ])('%j is refused with what is wanted', async (value, path, message) => {
    expect(await faultsOf(schema, value)).toEqual([{ path, message }])
  })

  it('tells in words how a key and the name of a tool are written', async () => {
    const names = strict({
      key: Type.String({ pattern: KEY_PATTERN }),
      tool: Type.String({ pattern: TOOL_NAME_PATTERN }),
    })
    expect(await faultsOf(names, { key: 'Front desk', tool: 'look up' })).toEqual([
      {
        path: '/body/key',
        message: 'must be 1 to 63 lower-case letters, digits, _ or -, of which the first is a letter or a digit',
      },
      { path: '/body/tool', message: 'must be 1 to 64 letters, digits, _ or -' },
    ])
  })

  it('is taken as it was sent', async () => {
    expect(
      await faultsOf(schema, { name: 'abcde', size: 3, color: 'red', nested: { on: false }, list: ['x', 'y'] }),
    ).toEqual([])
  })

  it('has every unknown field named', async () => {
    const faults = await faultsOf(schema, { name: 'a', colour: 'red', sise: 1 })
    expect(faults.map(({ path }) => path)).toEqual(['/body/colour', '/body/sise'])
  })

  it('has at most 20 faults told, and the names in them cut', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${'x'.repeat(5_000)}`, 1]))
    const faults = await faultsOf(schema, { name: 'a', ...many })
    expect(faults).toHaveLength(20)
    expect(Math.max(...faults.map(({ path }) => path.length))).toBeLessThan(120)
  })

  it('never has its values repeated', async () => {
    const secret = 'hunter2-hunter2'
    const forms = strict({
      a: Phone,
      b: Timestamp,
      c: Type.Integer(),
      d: Type.Enum(['x']),
      e: nullable(Type.Literal('y')),
    })
    const faults = await faultsOf(forms, { a: secret, b: secret, c: secret, d: secret, e: secret })
    expect(faults).toHaveLength(5)
    expect(JSON.stringify(faults)).not.toContain(secret)
  })

  it('that is nested deeper than the stack is refused as another, where the route itself answers what is wrong with it', async () => {
    const { server } = testServer()
    server.post('/', { schema: { body: schema }, config: { answersTextFaults: true } }, async () => ({ ok: true }))
    const payload = '['.repeat(100_000) + ']'.repeat(100_000)
    const headers = { 'content-type': 'application/json' }
    const answer = await server.inject({ method: 'POST', url: '/', payload, headers })
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { details: [{ message: 'must be an object' }] }])
  })

  it('that is large and wrong all over is refused before it holds up anything', async () => {
    const items = strict({
      items: Type.Array(Type.Union([Type.Null(), strict({ a: Type.String() }), strict({ b: Type.String() })])),
    })
    const wrong = { items: Array(60_000).fill(1) }
    const faults = await faultsOf(items, wrong)
    expect(faults).toEqual([{ path: '/body/items/0', message: 'must be null or an object' }])
  })
})

describe('any body and any query', () => {
  it('are taken or refused, and never an error of ours', async () => {
    const { server } = testServer()
    const thing = { name: Type.String(), at: Timestamp, phone: nullable(Phone), n: Type.Integer({ minimum: 0 }) }
    server.post('/', { schema: { body: strict({ ...thing, list: Type.Array(strict(thing)) }) } }, async () => ({
      ok: true,
    }))
    server.get('/:id', { schema: { querystring: strict({ n: Type.Optional(Type.Integer()) }) } }, async () => ({
      ok: true,
    }))
    const names = fc.constantFrom('name', 'at', 'phone', 'n', 'list', '__proto__', 'constructor', 'toString')
    const body = fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue()))
    await fc.assert(
      fc.asyncProperty(body, fc.string({ unit: 'binary' }), async (payload, text) => {
        const headers = { 'content-type': 'application/json' }
        const posted = await server.inject({ method: 'POST', url: '/', payload: JSON.stringify(payload), headers })
        const asked = await server.inject({
          url: `/${encodeURI(text.toWellFormed())}?n=${encodeURI(text.toWellFormed())}`,
        })
        expect([200, 400]).toContain(posted.statusCode)
        expect([200, 400, 404]).toContain(asked.statusCode)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a union', () => {
  const detection = Type.Union([
    strict({ type: Type.Literal('server_vad'), threshold: Type.Number() }),
    strict({ type: Type.Literal('semantic_vad'), eagerness: Type.Enum(['low', 'high']) }),
    Type.Null(),
  ])
  const schema = strict({
    detection: Type.Optional(detection),
    nested: Type.Optional(nullable(strict({ inner: nullable(strict({ on: Type.Boolean() })) }))),
    mode: Type.Optional(Type.Union([Type.Literal('fast'), Type.Literal('slow')])),
    value: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    phone: Type.Optional(nullable(Phone)),
    list: Type.Optional(Type.Array(nullable(strict({ a: Type.Integer() })))),
  })

  it.each<[value: unknown, faults: [path: string, message: string][]]>([
    [{ detection: 'x' }, [['detection', 'must be an object or null']]],
    [{ detection: { type: 'semantic_vad', eagerness: 'no' } }, [['detection/eagerness', 'must be one of low, high']]],
    [
      { detection: { type: 'server_vad', threshold: 1, k: 1 } },
      [['detection/k', 'is not a known field: there are type, threshold']],
    ],
    [{ detection: { type: 'other' } }, [['detection/type', 'must be one of server_vad, semantic_vad']]],
    [{ detection: { threshold: 1 } }, [['detection/type', 'must be one of server_vad, semantic_vad']]],
    [{ detection: {} }, [['detection/type', 'must be one of server_vad, semantic_vad']]],
    [{ nested: { inner: { on: 1 } } }, [['nested/inner/on', 'must be true or false']]],
    [{ nested: { inner: 1 } }, [['nested/inner', 'must be an object or null']]],
    [{ mode: 'medium' }, [['mode', 'must be one of fast, slow']]],
    [{ mode: 3 }, [['mode', 'must be one of fast, slow']]],
    [{ value: true }, [['value', 'must be a string or a number']]],
    [{ phone: '4155550100' }, [['phone', 'must be a phone number in E.164, like +14155550100']]],
    [
      { phone: '+4402079460000' },
      [['phone', expect.stringMatching(/^must be a phone number in E.164, .* without the prefix/)]],
    ],
    [{ phone: 5 }, [['phone', 'must be a phone number in E.164, like +14155550100, or null']]],
    [
      { list: [{ a: 1 }, null, { a: 'x' }, 4] },
      [
        ['list/2/a', 'must be a whole number'],
        ['list/3', 'must be an object or null'],
      ],
    ],
  ])('that %j does not match is told by the branch that was meant', async (value, faults) => {
    expect(await faultsOf(schema, value)).toEqual(faults.map(([path, message]) => ({ path: `/body/${path}`, message })))
  })
})

describe('a query', () => {
  const schema = strict({
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 500 })),
    dry_run: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Enum(['open', 'claimed'])),
    tag: Type.Optional(Type.Array(Type.String())),
    page: Type.Optional(Type.Array(Type.Integer(), { maxItems: 2 })),
    score: Type.Optional(Type.Union([Type.Number(), Type.Literal('none')])),
    since: Type.Optional(Timestamp),
  })
  const UNKNOWN = 'is not a known parameter: there are limit, dry_run, status, tag, page, score, since'
  const TIMESTAMP = 'must be an ISO 8601 timestamp with its zone, like 2026-01-31T09:05:00.000Z'

  it('is text that becomes what its schema asks for', async () => {
    const answer = await ask(schema, '?limit=5&dry_run=true&status=open&tag=a')
    expect(answer.json().query).toEqual({ limit: 5, dry_run: true, status: 'open', tag: ['a'] })
  })

  it.each([
    ['?limit=007', { limit: 7 }],
    ['?dry_run=false', { dry_run: false }],
    ['?page=1&page=2', { page: [1, 2] }],
    ['?tag=1&tag=true', { tag: ['1', 'true'] }],
    ['?score=-1.5', { score: -1.5 }],
    ['?score=none', { score: 'none' }],
    ['?since=2026-01-31T09:05:00%2B02:00', { since: '2026-01-31T09:05:00+02:00' }],
    ['', {}],
  ])('%s is read as its schema asks', async (query, values) => {
    expect((await ask(schema, query)).json().query).toEqual(values)
  })

  it.each([
    ['?limit=-1', '/query/limit', 'must be at least 0'],
    ['?limit=501', '/query/limit', 'must be at most 500'],
    ['?limit=many', '/query/limit', 'must be a whole number'],
    ['?limit=', '/query/limit', 'must be a whole number'],
    ['?limit=1&limit=2', '/query/limit', 'must be given once'],
    ['?status=open&status=claimed', '/query/status', 'must be given once'],
    ['?since=2026-01-31T09:05:00Z&since=2026-01-31T09:05:00Z', '/query/since', 'must be given once'],
    ['?score=1&score=none', '/query/score', 'must be given once'],
    ['?page=1&page=2&page=3', '/query/page', 'must have at most 2 items'],
    ['?page=1&page=x', '/query/page/1', 'must be a whole number'],
    ['?dry_run=maybe', '/query/dry_run', 'must be true or false'],
    ['?status=closed', '/query/status', 'must be one of open, claimed'],
    ['?since=2026-01-31', '/query/since', TIMESTAMP],
    [
      '?since=2026-01-31T09:05:00+02:00',
      '/query/since',
      `${TIMESTAMP}; the + of a zone is written as %2B in an address`,
    ],
    ['?limits=5', '/query/limits', UNKNOWN],
    ['?__proto__=5', '/query/__proto__', UNKNOWN],
  ])('%s is refused with what is wanted', async (query, path, message) => {
    const answer = await ask(schema, query)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([{ path, message }])
  })

  it.each(['1e400', 'Infinity', '0x10', '%205', '1e2', '1.0', '99999999999999999', 'null', 'true'])(
    'does not take %s for a whole number',
    async (text) => {
      const answer = await ask(schema, `?limit=${text}`)
      expect(answer.json().details).toEqual([{ path: '/query/limit', message: 'must be a whole number' }])
    },
  )
})

describe('headers', () => {
  it('are checked where a schema names them, and others pass', async () => {
    const { server } = testServer()
    const headers = Type.Object({ 'if-match': Type.String({ pattern: '^"' }) })
    server.get('/', { schema: { headers } }, async () => ({ ok: true }))
    expect((await server.inject({ url: '/', headers: { 'if-match': '"x"', other: '1' } })).statusCode).toBe(200)
    expect((await server.inject({ url: '/', headers: { 'if-match': 'x' } })).json().details).toEqual([
      { path: '/headers/if-match', message: 'must match ^"' },
    ])
  })
})

describe('a path', () => {
  it('is text that becomes what its schema asks for', async () => {
    const { server } = testServer()
    const params = strict({ version: Type.Integer() })
    server.get('/:version', { schema: { params } }, async (request) => ({ next: request.params.version + 1 }))
    expect((await server.inject({ url: '/41' })).json()).toEqual({ next: 42 })
    expect((await server.inject({ url: '/x' })).json().error).toBe('version must be a whole number.')
  })

  it('has its UUIDs in small letters, and what else is in it as it was sent', async () => {
    const { server } = testServer()
    server.get('/:task_id/:name', async (request) => request.params)
    const [sent, id] = ['01890000-0000-7000-8000-00000000ABCD', '01890000-0000-7000-8000-00000000abcd']
    expect((await server.inject({ url: `/${sent}/${sent}` })).json()).toEqual({ task_id: id, name: sent })
    expect((await server.inject({ url: '/Ann/Ann' })).json()).toEqual({ task_id: 'Ann', name: 'Ann' })
  })
})

describe('the checks of the routes', () => {
  it('are all compiled by the preparation, which so finds a schema that cannot be', async () => {
    const { server } = testServer()
    server.get('/', { schema: { querystring: strict({ a: Type.Optional(Type.String()) }) } }, async () => ({
      ok: true,
    }))
    await server.ready()
    await prepareChecks(server)
    const { server: faulty } = testServer()
    faulty.get(
      '/',
      { schema: { querystring: strict({ a: Type.String({ format: 'nobody knows' }) }) } },
      async () => ({}),
    )
    await faulty.ready()
    await expect(prepareChecks(faulty)).rejects.toThrow('nobody knows')
  })
})

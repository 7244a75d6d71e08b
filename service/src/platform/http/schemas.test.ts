import { type TSchema, Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../kernel/pages.ts'
import { testServer } from './http.fixture.ts'
import { iso, isoOrNull, listBody, listResponse, nullable, PageQuery, Phone, strict, Timestamp } from './schemas.ts'

/** What a route whose answer has this schema sends for `value`. */
async function sent(schema: TSchema, value: unknown): Promise<unknown> {
  const { server } = testServer()
  server.get('/', { schema: { response: { 200: schema } } }, async () => value)
  const answer = await server.inject({ url: '/' })
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

const Agent = Type.Object({
  id: Type.String(),
  phone: nullable(Phone),
  created_at: Timestamp,
  deleted_at: nullable(Timestamp),
})
const agent = { id: 'a', phone: '+14155550100', created_at: iso(new Date(0)), deleted_at: isoOrNull(null) }

describe('listResponse', () => {
  it('describes what listBody makes', async () => {
    const body = listBody('agents', [agent], 'next')
    expect(await sent(listResponse('agents', Agent), body)).toEqual({
      ok: true,
      count: 1,
      agents: [agent],
      next_cursor: expect.stringMatching(/^next\./),
    })
  })

  it('has a null cursor at the end', async () => {
    expect(await sent(listResponse('agents', Agent), listBody('agents', [], null))).toEqual({
      ok: true,
      count: 0,
      agents: [],
      next_cursor: null,
    })
  })

  it('lets no member out that the row does not name', async () => {
    const body = listBody('agents', [{ ...agent, secret: 'x' }], null)
    expect(JSON.stringify(await sent(listResponse('agents', Agent), body))).not.toContain('secret')
  })
})

describe('nullable', () => {
  it('lets no member out that the object does not name', async () => {
    const schema = Type.Object({ agent: nullable(Type.Object({ id: Type.String() })) })
    expect(await sent(schema, { agent: { id: 'a', secret: 'x' } })).toEqual({ agent: { id: 'a' } })
    expect(await sent(schema, { agent: null })).toEqual({ agent: null })
  })
})

describe('a timestamp', () => {
  it('is UTC with milliseconds', () => {
    expect(iso(new Date('2026-01-31T10:05:00+01:00'))).toBe('2026-01-31T09:05:00.000Z')
    expect(isoOrNull(new Date(1))).toBe('1970-01-01T00:00:00.001Z')
  })
})

describe('PageQuery', () => {
  async function page(query: string) {
    const { server } = testServer()
    server.get('/', { schema: { querystring: PageQuery } }, async (request) => readPage(request.query))
    return server.inject({ url: `/${query}` })
  }

  it.each([
    ['', { limit: 50, offset: 0, after: null }],
    ['?limit=0', { limit: 0, offset: 0, after: null }],
    ['?limit=500&offset=9007199254740991', { limit: 500, offset: 9007199254740991, after: null }],
  ])('reads "%s"', async (query, request) => {
    expect((await page(query)).json()).toEqual(request)
  })

  it.each([
    '?limit=501',
    '?limit=-1',
    '?limit=1.5',
    '?offset=-1',
    '?offset=9007199254740993',
    '?cursor=',
    '?cursor=x',
    '?page=2',
  ])('refuses %s', async (query) => {
    expect((await page(query)).statusCode).toBe(400)
  })
})

describe('a route', () => {
  it.each<[string, TSchema]>([
    ['as a whole', Type.Object({ a: Type.String() })],
    ['in a member', strict({ a: Type.Object({}) })],
    ['in a list', strict({ a: Type.Array(Type.Object({})) })],
    ['in a union', strict({ a: nullable(Type.Object({})) })],
    ['of one content type', Type.Unsafe({ content: { 'application/json': { schema: Type.Object({}) } } })],
    ['in a map', strict({ a: Type.Record(Type.String(), Type.Object({})) })],
    ['in a member that has the name of a keyword', strict({ items: Type.Object({ type: Type.String() }) })],
  ])('is not taken with a body that leaves unknown members open %s', (_where, body) => {
    const { server } = testServer()
    expect(() => server.post('/things', { schema: { body } }, async () => ({}))).toThrow(
      /^POST \/things: body.* does not say whether unknown members are taken$/,
    )
  })

  it('is not taken with such a query either', () => {
    const { server } = testServer()
    const querystring = Type.Object({ a: Type.Optional(Type.String()) })
    expect(() => server.get('/things', { schema: { querystring } }, async () => ({}))).toThrow(/querystring/)
  })

  it('may say that it takes unknown members', () => {
    const { server } = testServer()
    const body = strict({
      metadata: Type.Record(Type.String(), Type.Unknown()),
      form: Type.Object({}, { additionalProperties: true }),
    })
    expect(() => server.post('/things', { schema: { body } }, async () => ({}))).not.toThrow()
  })
})

import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { nextCursorOf, readPage } from '../../kernel/pages.ts'
import { testServer } from './http.fixture.ts'
import { sendList } from './json-lists.ts'
import { listBody, listResponse, pageFields, strict } from './schemas.ts'

const AT = { createdAt: new Date('2030-01-01T00:00:00.000Z'), id: 'x' }
const Query = strict({ ...pageFields, order: Type.Optional(Type.Enum(['newest', 'due'])) })

/** Lists whose every page has a next one; of `/api/v1/logs` the rows are JSON already. Each answers where its page begins. */
function serverWithLists() {
  const { server } = testServer()
  const response = { 200: listResponse('rows', Type.String()) }
  for (const url of ['/api/v1/things', '/api/v1/others', '/api/v1/of/:id']) {
    server.get(
      url,
      { schema: { querystring: Query, params: Type.Object({ id: Type.Optional(Type.String()) }), response } },
      async (request) => {
        const { after } = readPage(request.query)
        return listBody('rows', [after?.id ?? 'the first'], nextCursorOf(AT))
      },
    )
  }
  server.get('/api/v1/lines', { schema: { querystring: Query, response } }, async (request, reply) => {
    const { after } = readPage(request.query)
    const json = JSON.stringify([after?.id ?? 'the first'])
    return sendList(reply, 'rows', { json, count: 1, nextCursor: nextCursorOf(AT) })
  })
  return async (url: string, cursor?: string) => {
    const further = cursor === undefined ? '' : `${url.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
    const answer = await server.inject({ url: `${url}${further}` })
    return { status: answer.statusCode, body: answer.json() }
  }
}

describe('the cursor of a list', () => {
  it.each([
    ['/api/v1/things', '/api/v1/things'],
    ['/api/v1/lines', '/api/v1/lines'],
    ['/api/v1/things', '/api/v1/things?limit=7'],
    ['/api/v1/things', '/things'],
    ['/api/v1/of/7', '/api/v1/of/7'],
  ])('of %s goes on at %s', async (one, same) => {
    const get = serverWithLists()
    const { next_cursor: cursor } = (await get(one)).body
    expect(await get(same, cursor)).toMatchObject({
      status: 200,
      body: { rows: ['x'], next_cursor: expect.any(String) },
    })
  })

  it.each([
    ['/api/v1/things', '/api/v1/others'],
    ['/api/v1/things', '/api/v1/lines'],
    ['/api/v1/lines', '/api/v1/things'],
    ['/api/v1/things', '/api/v1/things?order=due'],
    ['/api/v1/of/7', '/api/v1/of/8'],
  ])('of %s is refused at %s as one that we did not make', async (one, other) => {
    const get = serverWithLists()
    const { next_cursor: cursor } = (await get(one)).body
    expect(await get(other, cursor)).toMatchObject({
      status: 400,
      body: { details: [{ path: '/query/cursor', message: 'is not a cursor of this list' }] },
    })
  })

  it('goes on where it has no mark, as those of the release before have none', async () => {
    const answer = await serverWithLists()('/api/v1/things', nextCursorOf(AT))
    expect(answer).toMatchObject({ status: 200, body: { rows: ['x'], next_cursor: expect.stringContaining('.') } })
  })

  it.each([['nonsense'], [`${nextCursorOf(AT)}.`], [`${nextCursorOf(AT)}.AAAAAAAA`]])('is not %s', async (cursor) => {
    expect(await serverWithLists()('/api/v1/things', cursor)).toMatchObject({ status: 400 })
  })

  it('goes on however long it is', async () => {
    const { server } = testServer()
    // The longest that can be read: of the row with the most digits and the longest id.
    const longest = nextCursorOf({ createdAt: new Date(-999_999_999_999_999), id: 'x'.repeat(127) })
    const response = { 200: listResponse('rows', Type.String()) }
    server.get('/api/v1/long', { schema: { querystring: Query, response } }, async (request) =>
      listBody('rows', [request.query.cursor ?? 'the first'], longest),
    )
    const { next_cursor: cursor } = (await server.inject({ url: '/api/v1/long' })).json()
    const answer = await server.inject({ url: '/api/v1/long', query: { cursor } })
    expect(answer.json()).toMatchObject({ rows: [longest], next_cursor: cursor })
  })
})

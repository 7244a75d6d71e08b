import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { testServer } from './http.fixture.ts'
import { strict } from './schemas.ts'

const json = { 'content-type': 'application/json' }

function serverWithRoutes() {
  const { server } = testServer()
  server.get('/things/:id', async () => ({ ok: true }))
  server.post('/things', { schema: { body: strict({ name: Type.Unknown() }) } }, async () => ({ ok: true }))
  return server
}

describe('a request', () => {
  it.each([
    [
      'NUL in the body',
      { method: 'POST', url: '/things', payload: '{"name":"a\\u0000b"}', headers: json },
      '/body/name',
    ],
    [
      'half a character in the body',
      { method: 'POST', url: '/things', payload: '{"name":"\\ud800"}', headers: json },
      '/body/name',
    ],
    ['NUL in a name', { method: 'POST', url: '/things', payload: '{"a\\u0000":1}', headers: json }, '/body'],
    [
      'a number beyond all',
      { method: 'POST', url: '/things', payload: '{"name":{"a":[1e308,-1e999]}}', headers: json },
      '/body/name/a/1',
    ],
    ['NUL in the path', { url: '/things/a%00b' }, '/path/id'],
    ['NUL in the query', { url: '/things/1?q=%00' }, '/query/q'],
    [
      'a hundred levels',
      { method: 'POST', url: '/things', payload: `{"name":${'['.repeat(100)}${']'.repeat(100)}}`, headers: json },
      `/body/name${'/0'.repeat(64)}`,
    ],
    [
      'a hundred thousand levels',
      { method: 'POST', url: '/things', payload: `${'['.repeat(100_000)}${']'.repeat(100_000)}`, headers: json },
      `/body${'/0'.repeat(65)}`,
    ],
  ] as const)('is refused where it holds what cannot be stored: %s', async (_what, request, path) => {
    const server = serverWithRoutes()
    const answer = await server.inject(request)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([{ path, message: expect.any(String) }])
  })

  it('is taken with text of any script, and 64 levels deep', async () => {
    const payload = `{"name":${'['.repeat(63)}"naïve 😀 漢字\\n\\u007f"${']'.repeat(63)}}`
    expect(
      (await serverWithRoutes().inject({ method: 'POST', url: '/things', payload, headers: json })).statusCode,
    ).toBe(200)
    expect((await serverWithRoutes().inject({ url: '/things/%F0%9F%98%80?q=%E6%BC%A2' })).statusCode).toBe(200)
  })
})

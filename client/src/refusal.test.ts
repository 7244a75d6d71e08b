import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createParley } from './index.ts'

/** A client of somebody who answers so. */
async function clientOf(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return createParley({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'k' })
}

const callBy = (parley: Awaited<ReturnType<typeof clientOf>>) =>
  parley.POST('/api/v1/make-call', { body: { to: '+12025550177', agent_key: 'desk' } })

describe('an answer that is no success', () => {
  it.each([
    ['502 without a body', 502, '', 'unavailable'],
    ['504 with a page', 504, '<html>Gateway Time-out</html>', 'unavailable'],
    ['503 with JSON of somebody else', 503, '{"message":"no upstream"}', 'unavailable'],
    ['413 with a page', 413, '<html>Too Large</html>', 'body_too_large'],
    ['409 with a string', 409, '"no"', 'invalid_request'],
    ['304, which has no body', 304, '', 'internal'],
    ['520', 520, 'null', 'internal'],
  ])('is an error when it is a %s', async (_name, status, body, code) => {
    const parley = await clientOf((response) => {
      response.writeHead(status, status === 304 ? {} : { 'content-length': body.length }).end(body)
    })
    const { data, error, response } = await callBy(parley)
    expect([data, response.status]).toEqual([undefined, status])
    expect(error).toEqual({ ok: false, code, error: expect.stringContaining(`HTTP ${status}`), request_id: '' })
  })

  it('is an error, too, when it breaks off', async () => {
    const parley = await clientOf((response) => {
      response.writeHead(502, { 'content-length': 500 }).write('<html>', () => response.destroy())
    })
    const { error, response } = await callBy(parley)
    expect([error?.code, response.status]).toEqual(['unavailable', 502])
  })

  it('has the id of the request where its header tells it', async () => {
    const parley = await clientOf((response) => response.writeHead(502, { 'x-request-id': 'r-1' }).end())
    expect((await callBy(parley)).error?.request_id).toBe('r-1')
  })

  it("is Parley's own error as it came", async () => {
    const own = { ok: false, code: 'invalid_request', error: 'No.', request_id: 'r-2', details: [] }
    const parley = await clientOf((response) => response.writeHead(400).end(JSON.stringify(own)))
    expect((await callBy(parley)).error).toEqual(own)
  })
})

describe('a success that cannot be read', () => {
  it.each([
    ['breaks off', (response: ServerResponse) => response.write('{"ok":true,', () => response.destroy())],
    ['is a page', (response: ServerResponse) => response.end('<html>Log in</html>'.padEnd(500))],
  ])('throws what says so, where it %s', async (_how, write) => {
    const parley = await clientOf((response) => void write(response.writeHead(200, { 'content-length': 500 })))
    const sentence = 'POST /api/v1/make-call: the answer (200) broke off, or is no JSON.'
    await expect(callBy(parley)).rejects.toThrow(
      expect.objectContaining({ message: sentence, cause: expect.any(Error) }),
    )
  })

  it.each([
    ['0 bytes', { 'content-length': 0 }],
    ['a connection that ends', { connection: 'close' }],
  ])('throws what says so, where it is empty by %s', async (_how, headers) => {
    const parley = await clientOf((response) => void response.writeHead(200, headers).end())
    await expect(callBy(parley)).rejects.toThrow('POST /api/v1/make-call: the answer (200) broke off, or is no JSON.')
  })

  it('throws the reason of the signal by which it was left', async () => {
    const leaving = new AbortController()
    const reason = new Error('seen enough')
    const parley = await clientOf((response) => {
      response.writeHead(200, { 'content-length': 500 }).write('{"ok":true,', () => leaving.abort(reason))
    })
    await expect(parley.GET('/api/v1/call-logs', { signal: leaving.signal })).rejects.toBe(reason)
  })
})

describe('what a middleware throws', () => {
  it.each([200, 404])('is thrown as it is, of a %s', async (status) => {
    const parley = await clientOf((response) => response.writeHead(status).end('{"ok":true}'))
    const fault = new Error('seen by a middleware')
    parley.use({
      onResponse: () => {
        throw fault
      },
    })
    await expect(callBy(parley)).rejects.toBe(fault)
  })
})

describe('a base address', () => {
  it('is refused with a path, which would be left out', () => {
    const create = (baseUrl: string) => () => createParley({ baseUrl, apiKey: 'k' })
    for (const path of ['/parley/', '/api/v1', '/?a=1'])
      expect(create(`https://voice.example.com${path}`)).toThrow(
        new TypeError(
          `baseUrl must be without a path, such as https://voice.example.com: https://voice.example.com${path}`,
        ),
      )
    expect(create('https://voice.example.com/')).not.toThrow()
  })

  it.each(['localhost:8080', 'voice.example.com', 'ftp://voice.example.com', ''])(
    'is refused as %j, with what is missing',
    (baseUrl) => {
      const sentence = `baseUrl must begin with https:// or http://: ${baseUrl}`
      expect(() => createParley({ baseUrl, apiKey: 'k' })).toThrow(new TypeError(sentence))
    },
  )
})

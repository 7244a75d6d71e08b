import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { TestClock } from '../../../test/harness/clock.ts'
import { until } from '../../../test/harness/wait.ts'
import { AppError } from '../../kernel/errors.ts'
import type { FrameSocket } from './frame-socket.ts'
import { connectionsOf, listen, RawConnection, testServer } from './http.fixture.ts'
import { makeWebSockets } from './web-sockets.ts'

type Heard = { frames: { text: string; isBinary: boolean }[]; closed: number[]; sockets: FrameSocket[] }

const UPGRADE =
  'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

async function listening() {
  const clock = new TestClock()
  const { server, metricsText } = testServer()
  const heard: Heard = { frames: [], closed: [], sockets: [] }
  const webSockets = makeWebSockets(server, { clock })
  server.get('/socket', async (request, reply) => {
    if (request.headers['x-refuse']) throw new AppError('unauthorized', 'Show a token.')
    webSockets.accept(request, reply, (socket) => {
      heard.sockets.push(socket)
      return {
        frame: (frame, isBinary) => heard.frames.push({ text: frame.toString(), isBinary }),
        closed: (code) => heard.closed.push(code),
      }
    })
  })
  server.post('/socket', async (request) => ({ ok: true, body: request.body }))
  const port = await listen(server)
  onTestFinished(() => webSockets.close())
  return { port, clock, heard, webSockets, metricsText }
}

async function connected(port: number): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${port}/socket`)
  onTestFinished(() => client.terminate())
  await once(client, 'open')
  return client
}

async function closeCodeOf(client: WebSocket): Promise<number> {
  const [code] = (await once(client, 'close')) as [number]
  return code
}

describe('WebSockets', () => {
  it('pass frames both ways', async () => {
    const { port, heard } = await listening()
    const client = await connected(port)
    client.send('hello')
    client.send(Buffer.from([1, 2]))
    await until(() => heard.frames.length === 2, { what: 'the frames' })
    expect(heard.frames.map(({ isBinary }) => isBinary)).toEqual([false, true])
    expect(heard.frames[0]?.text).toBe('hello')

    heard.sockets[0]?.send([Buffer.from('hi')])
    const [data, isBinary] = (await once(client, 'message')) as [Buffer, boolean]
    expect([data.toString(), isBinary]).toEqual(['hi', false])
  })

  it('begin with the id of their request', async () => {
    const { port } = await listening()
    const client = new WebSocket(`ws://127.0.0.1:${port}/socket`, { headers: { 'x-request-id': 'handshake-1' } })
    onTestFinished(() => client.terminate())
    const [{ headers }] = (await once(client, 'upgrade')) as [IncomingMessage]
    expect(headers['x-request-id']).toBe('handshake-1')
  })

  it('tell the end once, with the code of the peer, and take what is sent after it without a word', async () => {
    const { port, heard } = await listening()
    const client = await connected(port)
    client.close(3000)
    await until(() => heard.closed.length > 0, { what: 'the end' })
    const [socket] = heard.sockets
    socket?.send([Buffer.from('too late')])
    socket?.ping()
    socket?.close(1000)
    socket?.terminate()
    expect(heard.closed).toEqual([3000])
  })

  it('are refused by their route in the shape of every error', async () => {
    const { port, metricsText } = await listening()
    const connection = new RawConnection(port).write(`GET /socket HTTP/1.1\r\n${UPGRADE}X-Refuse: yes\r\n\r\n`)
    const { status, headers, body } = await connection.answer()
    await connection.closed()
    expect(status).toBe(401)
    expect(JSON.parse(body)).toMatchObject({ ok: false, code: 'unauthorized', request_id: headers['x-request-id'] })
    expect(headers['connection']).toBe('close')
    expect(await metricsText()).toContain('http_requests_total{method="GET",route="/socket",status="401"} 1')
  })

  it('are not there at other addresses', async () => {
    const { port } = await listening()
    const { status, body } = await new RawConnection(port).write(`GET /other HTTP/1.1\r\n${UPGRADE}\r\n`).answer()
    expect([status, (JSON.parse(body) as { code: string }).code]).toEqual([404, 'not_found'])
  })

  it('answer 426 to a request that asks for no upgrade', async () => {
    const { port } = await listening()
    const response = await fetch(`http://127.0.0.1:${port}/socket`)
    expect(response.status).toBe(426)
    expect(await response.json()).toMatchObject({ ok: false, code: 'upgrade_required' })
  })

  it.each([
    ['another protocol', 426, UPGRADE.replace('websocket', 'h2c')],
    ['another version', 426, UPGRADE.replace(': 13', ': 8')],
    ['no key', 400, UPGRADE.replace('Sec-WebSocket-Key', 'X-Key')],
    ['a key that is none', 400, UPGRADE.replace('dGhlIHNhbXBsZSBub25jZQ==', 'short')],
  ])('refuse a handshake with %s', async (_what, status, headers) => {
    const { port } = await listening()
    const answer = await new RawConnection(port).write(`GET /socket HTTP/1.1\r\n${headers}\r\n`).answer()
    expect(answer.status).toBe(status)
    const details = status === 400 ? [{ path: '/headers/sec-websocket-key', message: expect.any(String) }] : undefined
    expect(JSON.parse(answer.body).details).toEqual(details)
  })

  it('leave alone what asks for an upgrade and has a body', async () => {
    const { port } = await listening()
    const body = '{}'
    const connection = new RawConnection(port).write(
      `POST /socket HTTP/1.1\r\n${UPGRADE}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(JSON.parse((await connection.answer()).body)).toEqual({ ok: true, body: {} })
  })

  it.each([
    ['an answer', () => 'x'.repeat(16 * 1024 * 1024)],
    ['what is streamed', () => Readable.from(Array.from({ length: 256 }, () => 'x'.repeat(64 * 1024)))],
  ])('that are asked for where there are none keep nobody who reads nothing of %s', async (_what, answer) => {
    const { server } = testServer({ limits: { unreadTimeoutMs: 2_000 } })
    const webSockets = makeWebSockets(server, { clock: new TestClock() })
    onTestFinished(() => webSockets.close())
    let begun = 0
    server.get('/much', (_request, reply) => {
      begun += 1
      return reply.send(answer())
    })
    const port = await listen(server)
    new RawConnection(port).deaf().write(`GET /much HTTP/1.1\r\n${UPGRADE}\r\n`)
    await until(() => begun === 1, { what: 'the request' })
    await until(() => connectionsOf(server).then((count) => count === 0), { what: 'the end of who does not read' })
  })

  it.each(['/socket', '/other'])(
    'are none behind a request that is not answered yet: what asks %s for one waits its turn',
    async (path) => {
      const { server } = testServer()
      const webSockets = makeWebSockets(server, { clock: new TestClock() })
      onTestFinished(() => webSockets.close())
      const { promise, resolve } = Promise.withResolvers<void>()
      let begun = 0
      server.get('/slow', async () => {
        begun += 1
        await promise
        return { ok: true }
      })
      server.get('/socket', async (request) => webSockets.expectUpgrade(request))
      server.get('/other', async () => ({ ok: true }))
      const slow = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'
      const connection = new RawConnection(await listen(server))
      connection.write(`${slow}GET ${path} HTTP/1.1\r\n${UPGRADE}\r\n`)
      await until(() => begun === 1, { what: 'the first request' })
      resolve()
      const statuses = () => [...connection.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      await until(() => statuses().length === 2, { what: 'both answers' })
      expect(statuses()).toEqual(['200', path === '/socket' ? '426' : '200'])
    },
  )

  it('survive a peer that resets before it was answered', async () => {
    const { port, heard } = await listening()
    const connection = await new RawConnection(port).opened()
    connection.write(`GET /socket HTTP/1.1\r\n${UPGRADE}\r\n`).destroy()
    await connected(port)
    expect(heard.sockets.length).toBeGreaterThan(0)
  })

  it('end a peer that sends a message over 64 KiB, in one piece or in many', async () => {
    const { port, heard } = await listening()
    const [whole, pieces] = [await connected(port), await connected(port)]
    whole.send('x'.repeat(64 * 1024 + 1))
    for (let i = 0; i < 3; i++) pieces.send('x'.repeat(30_000), { fin: false })
    expect(await Promise.all([whole, pieces].map(closeCodeOf))).toEqual([1009, 1009])
    expect(heard.frames).toEqual([])
  })

  it('end a peer that sends a message in more pieces than anybody needs', async () => {
    const { port } = await listening()
    const client = await connected(port)
    for (let i = 0; i < 100; i++) client.send('x', { fin: false })
    expect(await closeCodeOf(client)).toBe(1008)
  })

  it('end a peer whose text is not UTF-8', async () => {
    const { port } = await listening()
    const client = await connected(port)
    client.send(Buffer.from([0xff, 0xfe]), { binary: false })
    expect(await closeCodeOf(client)).toBe(1007)
  })

  it('drop a peer that shows no sign of life over three pings, and keep one that does', async () => {
    const { port, clock, heard } = await listening()
    const client = await connected(port)
    const silent = new RawConnection(port).write(`GET /socket HTTP/1.1\r\n${UPGRADE}\r\n`)
    await until(() => heard.sockets.length === 2, { what: 'both' })
    const [alive] = heard.sockets
    for (let pings = 0; pings < 4; pings++) {
      const before = alive?.bytesRead ?? 0
      await clock.advance(20_000)
      await until(() => (alive?.bytesRead ?? 0) > before, { what: 'the pong' })
    }
    await silent.closed()
    expect(client.readyState).toBe(WebSocket.OPEN)
    expect(heard.closed).toEqual([1006])
  })

  it('say goodbye when they are closed, cut off who does not answer, and leave no timer', async () => {
    const { port, clock, heard, webSockets } = await listening()
    const client = await connected(port)
    new RawConnection(port).write(`GET /socket HTTP/1.1\r\n${UPGRADE}\r\n`)
    await until(() => heard.sockets.length === 2, { what: 'both' })
    const goodbye = closeCodeOf(client)
    const closed = webSockets.close()
    expect(await goodbye).toBe(1001)
    await until(() => heard.closed.length === 1, { what: 'the answer' })
    await clock.advance(1_000)
    await closed
    expect([heard.closed.length, clock.pendingTimers]).toEqual([2, 0])
  })

  it('let go of a connection at once when they are closed already', async () => {
    const { port, webSockets } = await listening()
    await webSockets.close()
    expect(await closeCodeOf(await connected(port))).toBe(1001)
  })
})

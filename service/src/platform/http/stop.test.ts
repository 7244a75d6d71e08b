import { describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { connectionsOf, listen, RawConnection, testServer } from './http.fixture.ts'
import { answersBegun, stopServer } from './server.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** A server with a route that answers when the test says so. */
async function listening() {
  const { server } = testServer()
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const state = { started: 0, answered: 0 }
  server.get('/', async () => ({ ok: true }))
  server.get('/slow', async () => {
    state.started += 1
    await promise
    state.answered += 1
    return { ok: true }
  })
  const noteBegun = async () => {
    state.started += 1
  }
  server.post('/upload', { onRequest: noteBegun }, async () => ({ ok: true }))
  server.get('/stream', async (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/plain' })
    reply.raw.write('first ')
    state.started += 1
    await promise
    reply.raw.end('last')
  })
  return { server, state, release, port: await listen(server) }
}

describe('answersBegun', () => {
  it('waits for who has sent a request in full, and not for the rest of one that perhaps never comes', async () => {
    const { server, state, release, port } = await listening()
    new RawConnection(port).write(
      'POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{',
    )
    const whole = new RawConnection(port).write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => state.started === 2, { what: 'the requests' })
    let isOver = false
    const begun = answersBegun(server).then(() => {
      isOver = true
    })
    await new RawConnection(port).write(GET).answer()
    expect(isOver).toBe(false)
    release()
    await whole.answer()
    // Long before the 20 s that answers are waited for.
    await until(() => isOver, { what: 'the answers', timeoutMs: 10_000 })
    await begun
  })
})

describe('stopServer', () => {
  it('lets a request in flight be answered, and closes its connection', async () => {
    const { server, state, release, port } = await listening()
    const connection = new RawConnection(port).write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => state.started === 1, { what: 'the request' })
    const stopped = stopServer(server, 5_000)
    release()
    const { status, headers } = await connection.answer()
    expect([status, headers['connection']]).toEqual([200, 'close'])
    await connection.closed()
    await stopped
  })

  it('lets an answer that has begun go on to its end, and closes its connection', async () => {
    const { server, state, release, port } = await listening()
    const connection = new RawConnection(port).write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => state.started === 1, { what: 'the request' })
    const stopped = stopServer(server, 60_000)
    release()
    await stopped
    await connection.closed()
    expect(connection.received).toContain('last')
  })

  it('closes a connection that waits for its next request, at once', async () => {
    const { server, port } = await listening()
    const connection = new RawConnection(port).write(GET)
    await connection.answer()
    await stopServer(server, 60_000)
    await connection.closed()
  })

  it('takes no new connections', async () => {
    const { server, port } = await listening()
    await stopServer(server, 60_000)
    const connection = await new RawConnection(port).write(GET).closed()
    expect(connection.received).toBe('')
  })

  it('answers a request that was half sent when it began', async () => {
    const { server, port } = await listening()
    const connection = await new RawConnection(port).write('GET / HTTP/1.1\r\nHost').opened()
    await until(() => connectionsOf(server).then((count) => count === 1), { what: 'the connection' })
    const stopped = stopServer(server, 60_000)
    const { status, headers } = await connection.write(': x\r\n\r\n').answer()
    expect([status, headers['connection']]).toEqual([200, 'close'])
    await stopped
  })

  it('ends after its grace what does not end by itself: a slow answer, half a request, an upgraded connection', async () => {
    const { server, state, port } = await listening()
    const upgraded: unknown[] = []
    server.server.on('upgrade', (_request, socket) => {
      upgraded.push(socket)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    })
    const connections = [
      new RawConnection(port).write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'),
      new RawConnection(port).write('GET / HTTP/1.1\r\nHo'),
      new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    ]
    await until(() => state.started === 1 && upgraded.length === 1, { what: 'the requests' })
    const startMs = performance.now()
    await stopServer(server, 100)
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(99)
    await Promise.all(connections.map((connection) => connection.closed()))
    expect(state.answered).toBe(0)
  })

  it('may be repeated, and of a server that never listened is soon done', async () => {
    const { server } = testServer()
    await Promise.all([stopServer(server, 100), stopServer(server, 100)])
    await stopServer(server, 100)
  })
})

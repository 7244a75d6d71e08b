import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { connectionsOf, type LogLine, listen, RawConnection, testServer } from './http.fixture.ts'
import { strict } from './schemas.ts'

const SHORT = { headersTimeoutMs: 200, requestTimeoutMs: 400, timeoutCheckIntervalMs: 50, keepAliveTimeoutMs: 200 }

async function listening(limits = {}) {
  const test = testServer({ limits })
  test.server.get('/', async () => ({ ok: true }))
  test.server.post('/things', { schema: { body: strict({ name: Type.String() }) } }, async () => ({ ok: true }))
  return { ...test, port: await listen(test.server) }
}

describe('what is not a request', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01', 400, 'invalid_request'],
    ['a camera asked for its streams', 'DESCRIBE rtsp://x:554/ RTSP/1.0\r\nCSeq: 1\r\n\r\n', 400, 'invalid_request'],
    ['the greeting of another protocol, cut short', 'PRI *\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'length and chunks',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a broken chunk',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      'invalid_request',
    ],
    ['a control character in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n', 400, 'invalid_request'],
    ['a header folded over lines', 'GET / HTTP/1.1\r\nHost: x\r\n X-A: b\r\n\r\n', 400, 'invalid_request'],
    [
      'headers of 17 KiB',
      `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['an address of 17 KiB', `GET /${'a'.repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
  ])('is refused in the shape of every error: %s', async (_what, bytes, status, code) => {
    const { port } = await listening()
    const connection = new RawConnection(port).write(bytes)
    const answer = await connection.answer()
    expect([answer.status, answer.headers['connection']]).toEqual([status, 'close'])
    await connection.closed()
    expect(JSON.parse(answer.body)).toEqual({
      ok: false,
      error: expect.stringMatching(/\.$/),
      code,
      request_id: answer.headers['x-request-id'],
      ...(status === 400 && { details: [{ path: expect.any(String), message: expect.stringMatching(/\.$/) }] }),
    })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('is logged with the id that was sent, and nothing of its bytes', async () => {
    const { port, logLines, logText } = await listening()
    const answer = await new RawConnection(port)
      .write('GET / HTTP/1.1\r\nHost: x\r\nX-Key: swordfish\x01\r\n\r\n')
      .answer()
    expect(logLines()).toEqual([
      expect.objectContaining({ msg: 'connection refused', status: 400, request_id: answer.headers['x-request-id'] }),
    ])
    expect(logText()).not.toContain('swordfish')
  })

  it('has one line in the log where it is of another protocol, and none of all the routes', async () => {
    const { port, logLines } = await listening()
    await new RawConnection(port).write('DESCRIBE rtsp://x:554/ RTSP/1.0\r\n\r\n').closed()
    expect(logLines()).toEqual([expect.objectContaining({ level: 'debug', msg: 'connection refused', status: 400 })])
  })
})

describe('a request that is being answered', () => {
  it('is not answered by the refusal of what follows it', async () => {
    const { server } = testServer()
    let started = false
    server.post('/calls', async () => {
      started = true
      return new Promise(() => {})
    })
    const connection = new RawConnection(await listen(server)).write('POST /calls HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => started, { what: 'the request' })
    await connection.write('no HTTP\r\n\r\n').closed()
    expect(connection.received).toBe('')
  })

  it('is not answered by the refusal of a body behind it', async () => {
    const { connection, logLines } = await answering()
    await connection.write(`${POST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`).closed()
    expect(connection.received).toBe('')
    await until(() => logLines().length === 2, { what: 'both in the log' })
    expect(logLines().map(({ level, status }) => [level, status])).toEqual([
      ['debug', 499],
      ['debug', 499],
    ])
  })

  it('is not answered by the refusal of what follows an answer that waits for its own', async () => {
    const { connection, quick } = await answering()
    connection.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => quick[0]?.writableEnded, { what: 'the second answer' })
    await connection.write('no HTTP\r\n\r\n').closed()
    expect(connection.received).toBe('')
  })
})

const POST = 'POST /calls HTTP/1.1\r\nHost: x\r\n'

/** A connection whose first request is never answered; `quick` are the answers to those for `/quick`. */
async function answering() {
  const { server, logLines } = testServer()
  const quick: ServerResponse[] = []
  let started = false
  server.post('/calls', async () => {
    started = true
    return new Promise(() => {})
  })
  server.get('/quick', async (_request, reply) => {
    quick.push(reply.raw)
    return { ok: true }
  })
  const connection = new RawConnection(await listen(server)).write(`${POST}\r\n`)
  await until(() => started, { what: 'the request' })
  return { connection, logLines, quick }
}

describe('an expectation that is not understood', () => {
  it('is ignored', async () => {
    const { port } = await listening()
    const answer = await new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n').answer()
    expect([answer.status, answer.body]).toEqual([200, '{"ok":true}'])
  })
})

describe('a body without a declared length', () => {
  it('is refused as soon as it is too large', async () => {
    const { port } = await listening({ maxBodyBytes: 1_000 })
    const connection = new RawConnection(port).write(
      `POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${'3e8\r\n'}${'x'.repeat(1_000)}\r\n1\r\nx\r\n`,
    )
    const { status, headers, body } = await connection.answer()
    expect([status, headers['connection'], JSON.parse(body).code]).toEqual([413, 'close', 'body_too_large'])
  })
})

describe('a body that is too large by its declared length', () => {
  it('is let come in all the same, or its client would be cut off in the middle of it and never read the answer', async () => {
    const { port } = await listening({ maxBodyBytes: 1_000 })
    const connection = new RawConnection(port).write(
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n',
    )
    const { status, headers, body } = await connection.answer()
    expect([status, JSON.parse(body).code]).toEqual([413, 'body_too_large'])
    expect(headers['connection']).not.toBe('close')
    connection.write(`${'x'.repeat(4_000_000)}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until(() => connection.received.includes('{"ok":true}'), { what: 'the answer to the next request' })
  })

  it('has no second answer when the rest of it does not come', async () => {
    const { port } = await listening({ ...SHORT, keepAliveTimeoutMs: 60_000, maxBodyBytes: 1_000 })
    const connection = new RawConnection(port).write(
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{',
    )
    await connection.answer()
    await connection.closed()
    expect(connection.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413'])
  })
})

describe('a client that is slow', () => {
  it('with its headers is refused with 408', async () => {
    const { port } = await listening({ ...SHORT, requestTimeoutMs: 60_000 })
    const connection = new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\nX-A: ')
    const { status, body } = await connection.answer()
    expect([status, JSON.parse(body).code]).toEqual([408, 'request_timeout'])
    await connection.closed()
  })

  it('with its body is refused with 408 and the id of its request', async () => {
    const { port, logLines } = await listening(SHORT)
    const connection = new RawConnection(port).write(
      'POST /things HTTP/1.1\r\nHost: x\r\nX-Request-Id: slow-one-1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na',
    )
    const { status, headers, body } = await connection.answer()
    expect([status, JSON.parse(body).request_id, headers['x-request-id']]).toEqual([408, 'slow-one-1', 'slow-one-1'])
    await connection.closed()
    const lines = await until(() => logLines().length >= 2 && logLines(), { what: 'the lines of the log' })
    expect(lines.map(({ level, status, request_id }) => [level, status, request_id])).toEqual([
      ['debug', 408, 'slow-one-1'],
      ['debug', 408, 'slow-one-1'],
    ])
  })

  it('to say anything is closed', async () => {
    const { port } = await listening(SHORT)
    await (await new RawConnection(port).opened()).closed()
  })

  it('to send its next request is closed', async () => {
    const { port } = await listening({ keepAliveTimeoutMs: SHORT.keepAliveTimeoutMs })
    const connection = new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await connection.answer()).status).toBe(200)
    await connection.closed()
  })

  it('to send its next request has longer than proxies keep a connection that nobody uses', async () => {
    const { port } = await listening()
    const { headers } = await new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer()
    expect(Number(headers['keep-alive']?.match(/^timeout=(\d+)$/)?.[1])).toBeGreaterThan(120)
  })

  it('does not keep others waiting: 200 half-open connections', async () => {
    const { port, server } = await listening({ ...SHORT, headersTimeoutMs: 3_000, requestTimeoutMs: 3_000 })
    let closed = 0
    const slow = Array.from({ length: 200 }, () => new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\nX-A: '))
    const ends = slow.map((connection) => connection.closed().then(() => (closed += 1)))
    await Promise.all(slow.map((connection) => connection.opened()))
    const { status } = await new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer()
    expect(status).toBe(200)
    expect(closed).toBe(0)
    await Promise.all(ends)
    await until(() => connectionsOf(server).then((count) => count <= 1), { what: 'the end of all connections' })
  })

  it('to read its answers is let go, and they with it', async () => {
    const test = testServer({ limits: { keepAliveTimeoutMs: 200, unreadTimeoutMs: 2_000 } })
    const answer = 'x'.repeat(16 * 1024 * 1024)
    test.server.get('/much', async () => answer)
    const port = await listen(test.server)
    const deaf = new RawConnection(port).deaf().write('GET /much HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
    const reader = new RawConnection(port).write('GET /much HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await reader.answer()).body.length).toBe(answer.length)
    await reader.closed()
    await until(() => connectionsOf(test.server).then((count) => count === 0), { what: 'the end of who does not read' })
    expect(deaf.received).toBe('')
  })

  it('to read what is streamed is let go, and that with them; who waits for more of it is not', async () => {
    const test = testServer({ limits: { unreadTimeoutMs: 2_000 } })
    const deafIsGone = Promise.withResolvers<void>()
    async function* parts() {
      for (let n = 0; n < 256; n += 1) yield 'x'.repeat(64 * 1024)
      await deafIsGone.promise
      yield 'the rest'
    }
    let begun = 0
    test.server.get('/stream', (_request, reply) => {
      begun += 1
      return reply.send(Readable.from(parts()).once('close', deafIsGone.resolve))
    })
    const port = await listen(test.server)
    const request = 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n'
    new RawConnection(port).deaf().write(request)
    await until(() => begun === 1, { what: 'the stream' })
    const reader = new RawConnection(port).write(request)
    await deafIsGone.promise
    await until(() => reader.received.endsWith('the rest\r\n0\r\n\r\n'), { what: 'all of it' })
  })

  it('to send its next request behind what was streamed is closed', async () => {
    const test = testServer({ limits: { keepAliveTimeoutMs: SHORT.keepAliveTimeoutMs, unreadTimeoutMs: 60_000 } })
    test.server.get('/stream', (_request, reply) => reply.send(Readable.from(['all of it'])))
    const reader = new RawConnection(await listen(test.server)).write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    await reader.closed()
    expect(reader.received).toContain('all of it')
  })

  it('to read one answer has the time that there is for its next request', async () => {
    const { port } = await listening({ ...SHORT, keepAliveTimeoutMs: 60_000, unreadTimeoutMs: 100 })
    const connection = new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await connection.answer()
    await (await new RawConnection(port).opened()).closed()
    expect(connection.isClosed).toBe(false)
  })

  it('to send it well-formed is refused, and what was to be answered by then is no fault of ours', async () => {
    const test = testServer()
    const { promise, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const response = { 200: strict({ ok: Type.Boolean() }), '4xx': strict({ error: Type.String() }) }
    test.server.get('/slow', { schema: { response } }, async () => {
      begun += 1
      await promise
      return { ok: true }
    })
    const connection = new RawConnection(await listen(test.server))
    connection.write('GET /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    await until(() => begun === 1, { what: 'the request' })
    connection.write('zz\r\n')
    expect((await connection.answer()).status).toBe(400)
    resolve()
    const isRecorded = ({ msg }: LogLine) => msg === 'request answered'
    await until(() => test.logLines().some(isRecorded), { what: 'its line in the log' })
    expect(test.logLines().map(({ level, status }) => [level, status])).toEqual([
      ['debug', 400],
      ['debug', 400],
    ])
  })

  it('to wait for its answer is recorded as gone, not as answered', async () => {
    const test = testServer()
    const { promise, resolve } = Promise.withResolvers<void>()
    let started = false
    test.server.get('/slow', async () => {
      started = true
      await promise
      return { ok: true }
    })
    const connection = new RawConnection(await listen(test.server)).write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => started, { what: 'the request' })
    connection.destroy()
    const [line] = await until(() => test.logLines().length > 0 && test.logLines(), { what: 'its line in the log' })
    expect(line).toMatchObject({ level: 'debug', msg: 'request answered', route: '/slow', status: 499 })
    resolve()
  })

  it('and gone before its body is there leaves no error behind', async () => {
    const test = testServer()
    let seen = false
    test.server.addHook('onRequest', async () => {
      seen = true
    })
    test.server.post('/things', { schema: { body: strict({}) } }, async () => ({ ok: true }))
    const connection = new RawConnection(await listen(test.server)).write(
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na',
    )
    await until(() => seen, { what: 'the request' })
    connection.destroy()
    const isOver = ({ msg }: LogLine) => msg === 'request answered'
    const lines = await until(() => test.logLines().some(isOver) && test.logLines(), { what: 'its line in the log' })
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([])
  })
})

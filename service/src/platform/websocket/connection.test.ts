import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { until } from '../../../test/harness/wait.ts'
import { bareClient, type Ours, ourClient, ourServer } from './peers.fixture.ts'
import { bytesOfFrame } from './reading.fixture.ts'

const SIZES = [0, 1, 125, 126, 280, 65_535, 65_536, 2 ** 20]
const texts = Array.from({ length: 100 }, (_, n) => Buffer.alloc(SIZES[n % SIZES.length] ?? 0, `${n}-`).toString())

type Theirs = { socket: WebSocket; got: string[]; closes: { code: number; reason: string }[] }

function watched(socket: WebSocket): Theirs {
  const theirs: Theirs = { socket, got: [], closes: [] }
  socket.on('message', (data) => theirs.got.push(String(data)))
  socket.on('close', (code, reason) => theirs.closes.push({ code, reason: String(reason) }))
  socket.on('error', () => {})
  onTestFinished(() => socket.terminate())
  return theirs
}

type Pair = { ours: Ours; theirs: Theirs }

/** Our server and a client of `ws`. */
async function asServer(): Promise<Pair> {
  const { port, next } = await ourServer()
  const theirs = watched(new WebSocket(`ws://127.0.0.1:${port}`))
  await once(theirs.socket, 'open')
  return { ours: await next(), theirs }
}

/** Our client and a server of `ws`. */
async function asClient(): Promise<Pair> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => server.close())
  const accepted = once(server, 'connection') as Promise<[WebSocket]>
  const ours = await ourClient(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = await accepted
  return { ours, theirs: watched(socket) }
}

describe.each([
  ['server', asServer],
  ['client', asClient],
] as const)('A connection, as %s of a peer of ws,', (_role, pair) => {
  it('brings messages of every size both ways, whole and in order', async () => {
    const { ours, theirs } = await pair()
    for (const text of texts) {
      const bytes = Buffer.from(text)
      ours.connection.send([bytes.subarray(0, 7), bytes.subarray(7)])
      theirs.socket.send(text)
    }
    await until(() => theirs.got.length === texts.length, { what: 'what we sent' })
    await until(() => ours.heard.messages.length === texts.length, { what: 'what they sent' })
    expect(theirs.got).toEqual(texts)
    expect(ours.heard.messages.map(String)).toEqual(texts)
    expect(new Set(ours.heard.kinds)).toEqual(new Set([false]))
  })

  it('lets others go first where a peer has much to say at once', async () => {
    const { ours, theirs } = await pair()
    const texts = Array.from({ length: 10_000 }, (_, n) => `${n} ${'x'.repeat(100)}`)
    let atFirstTurn: number | null = null
    ours.heard.onMessage = () => {
      ours.heard.onMessage = () => {}
      setImmediate(() => {
        atFirstTurn = ours.heard.messages.length
      })
    }
    for (const text of texts) theirs.socket.send(text)
    await until(() => ours.heard.messages.length === texts.length, { what: 'what they sent' })
    expect(ours.heard.messages.map(String)).toEqual(texts)
    expect(atFirstTurn).toBeLessThan(1_000)
  })

  it('sends several messages at once', async () => {
    const { ours, theirs } = await pair()
    ours.connection.sendAll([[Buffer.from('o'), Buffer.from('ne')], [Buffer.from('two')]])
    await until(() => theirs.got.length === 2, { what: 'both' })
    expect(theirs.got).toEqual(['one', 'two'])
  })

  it('tells binary messages from text', async () => {
    const { ours, theirs } = await pair()
    theirs.socket.send(Buffer.from([1, 2]))
    await until(() => ours.heard.messages.length === 1, { what: 'the message' })
    expect(ours.heard.kinds).toEqual([true])
  })

  it('answers pings with what they carry, and hears answers to its own', async () => {
    const { ours, theirs } = await pair()
    theirs.socket.ping('are you there')
    const [payload] = (await once(theirs.socket, 'pong')) as [Buffer]
    expect([String(payload), ours.heard.alive]).toEqual(['are you there', 1])
    ours.connection.ping()
    await until(() => ours.heard.alive === 2, { what: 'the pong' })
  })

  it('says goodbye, and hears the answer', async () => {
    const { ours, theirs } = await pair()
    ours.connection.close(4000, 'enough')
    ours.connection.close(4001)
    ours.connection.send([Buffer.from('too late')])
    expect((await ours.heard.end()).code).toBe(4000)
    await until(() => theirs.closes.length === 1, { what: 'their end' })
    expect([theirs.closes, theirs.got]).toEqual([[{ code: 4000, reason: 'enough' }], []])
    expect(ours.clock.pendingTimers).toBe(0)
  })

  it.each([
    ['a code', 3000, { code: 3000, reason: 'bye' }],
    ['no code', undefined, { code: 1005, reason: '' }],
  ])('answers a goodbye with %s', async (_what, code, told) => {
    const { ours, theirs } = await pair()
    theirs.socket.close(code, code === undefined ? undefined : 'bye')
    expect(await ours.heard.end()).toEqual(told)
    await until(() => theirs.closes.length === 1, { what: 'their end' })
    expect(theirs.closes[0]?.code).toBe(told.code)
    expect(ours.clock.pendingTimers).toBe(0)
  })

  it('ends with 1006 when the peer is cut off, and takes what is sent after that without a word', async () => {
    const { ours, theirs } = await pair()
    theirs.socket.terminate()
    ours.connection.send([Buffer.from('x')])
    expect(await ours.heard.end()).toEqual({ code: 1006, reason: '' })
    ours.connection.send([Buffer.from('x')])
    ours.connection.sendAll([[Buffer.from('x')]])
    ours.connection.ping()
    ours.connection.close(1000)
    ours.connection.terminate()
    await ours.connection.closeWithin(1000, 1)
    expect([ours.heard.closed.length, ours.clock.pendingTimers]).toEqual([1, 0])
  })

  it('ends with 1006 when it is reset', async () => {
    const { ours, theirs } = await pair()
    ours.raw.resetAndDestroy()
    expect(await ours.heard.end()).toEqual({ code: 1006, reason: '' })
    await until(() => theirs.closes.length === 1, { what: 'their end' })
    expect(theirs.closes[0]?.code).toBe(1006)
  })

  it('tells nothing but its end once it was terminated', async () => {
    const { ours, theirs } = await pair()
    ours.heard.onMessage = () => ours.connection.terminate()
    for (let n = 0; n < 10; n++) theirs.socket.send('x')
    expect(await ours.heard.end()).toEqual({ code: 1006, reason: '' })
    expect([ours.heard.messages.length, ours.clock.pendingTimers]).toEqual([1, 0])
  })

  it('hears no message any more once it has said goodbye', async () => {
    const { ours, theirs } = await pair()
    ours.heard.onMessage = () => ours.connection.close(1000)
    for (let n = 0; n < 10; n++) theirs.socket.send('x')
    expect((await ours.heard.end()).code).toBe(1000)
    expect(ours.heard.messages).toHaveLength(1)
  })

  it('reads nothing while it is paused, and all of it afterwards', async () => {
    const { ours, theirs } = await pair()
    ours.connection.pause()
    const bytes = ours.connection.bytesRead
    for (let n = 0; n < 60; n++) theirs.socket.send('x'.repeat(2 ** 20))
    await until(() => theirs.socket.bufferedAmount > 2 ** 20, { what: 'a peer that has to wait' })
    expect(ours.heard.messages).toEqual([])
    ours.connection.resume()
    await until(() => ours.heard.messages.length === 60, { what: 'all of it' })
    expect(ours.connection.bytesRead - bytes).toBeGreaterThan(60 * 2 ** 20)
  })

  it('hears the goodbye of a peer also while it is paused, once it has said its own', async () => {
    const { ours } = await pair()
    ours.connection.pause()
    await ours.connection.closeWithin(1001, 500)
    expect(ours.heard.closed[0]?.code).toBe(1001)
  })
})

const KEY = 0x01020304
const GOODBYE = bytesOfFrame({ first: 0x88, payload: Buffer.from([0x03, 0xe8]), mask: KEY })
const masked = (first: number, text: string) => bytesOfFrame({ first, payload: Buffer.from(text), mask: KEY })

describe('A connection that is paused', () => {
  it('by a message that came with the handshake reads nothing, and all of it afterwards', async () => {
    const { port, next } = await ourServer(({ connection, heard }) => {
      heard.onMessage = (bytes) => {
        if (bytes.toString() === 'first') connection.pause()
      }
    })
    const { socket } = await bareClient(port, masked(0x81, 'first'))
    const ours = await next()
    await until(() => ours.heard.messages.length === 1, { what: 'the first' })
    for (let n = 0; n < 200; n++)
      socket.write(bytesOfFrame({ first: 0x82, payload: Buffer.alloc(65_000, n), mask: KEY }))
    const bytes = ours.connection.bytesRead
    // By when another one was read, this one would have been.
    const other = await bareClient(port, masked(0x81, 'other'))
    other.socket.write(masked(0x89, 'ping'))
    await until(() => other.got().length > 0, { what: 'a pong' })
    expect([ours.heard.messages.length, ours.connection.bytesRead]).toEqual([1, bytes])
    ours.connection.resume()
    await until(() => ours.heard.messages.length === 201, { what: 'all of it' })
    expect(ours.connection.bytesRead - bytes).toBeGreaterThan(200 * 60_000)
    expect(ours.heard.messages.slice(1).map((message) => message[64_999])).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    )
  })
})

describe('A connection to a peer that behaves badly', () => {
  it('reads what came with the handshake first', async () => {
    const { port, next } = await ourServer()
    const { socket } = await bareClient(port, masked(0x81, 'first'))
    const { heard } = await next()
    socket.write(masked(0x81, 'second'))
    await until(() => heard.messages.length === 2, { what: 'both' })
    expect(heard.messages.map(String)).toEqual(['first', 'second'])
  })

  it('tells the peer what it did wrong, and ends', async () => {
    const { port, next } = await ourServer()
    const { socket, got } = await bareClient(port)
    const { heard, clock } = await next()
    socket.write(Buffer.concat([masked(0x83, 'x'), masked(0x81, 'too late')]))
    await once(socket, 'end')
    expect(got().toString('hex')).toBe('880203ea')
    expect(heard.faults.map(({ code }) => code)).toEqual(['WS_ERR_INVALID_OPCODE'])
    socket.end()
    expect(await heard.end()).toEqual({ code: 1002, reason: '' })
    expect([heard.messages, clock.pendingTimers]).toEqual([[], 0])
  })

  it.each([
    ['its goodbye', ({ connection }: Ours) => connection.close(1000), null, 1006],
    ['the end of its half after a goodbye of the peer', () => {}, GOODBYE, 1000],
    ['its complaint', () => {}, masked(0x83, 'x'), 1002],
  ])('waits no longer than it should for the answer to %s', async (_what, act, bytes, code) => {
    const { port, next } = await ourServer()
    const { socket } = await bareClient(port)
    const ours = await next()
    act(ours)
    if (bytes) socket.write(bytes)
    await until(() => ours.clock.pendingTimers === 1, { what: 'the wait' })
    await ours.clock.advance(999)
    expect(ours.heard.closed).toEqual([])
    await ours.clock.advance(1)
    expect((await ours.heard.end()).code).toBe(code)
    expect(ours.clock.pendingTimers).toBe(0)
  })

  it('ends with 1006 when the peer ends its half without a goodbye', async () => {
    const { port, next } = await ourServer()
    const { socket } = await bareClient(port)
    const { heard } = await next()
    socket.end()
    expect(await heard.end()).toEqual({ code: 1006, reason: '' })
  })

  it('does not pile up pongs for a peer that does not take them', async () => {
    const { port, next } = await ourServer()
    const { socket } = await bareClient(port)
    const { connection, heard } = await next()
    socket.pause()
    connection.send([Buffer.alloc(16 * 2 ** 20, 'x')])
    const waiting = connection.bufferedBytes()
    expect(waiting).toBeGreaterThan(64 * 1024)
    for (let n = 20; n <= 1_000; n += 20) {
      socket.write(Buffer.concat(Array.from({ length: 20 }, () => masked(0x89, 'x'.repeat(125)))))
      await until(() => heard.alive === n, { what: 'the pings' })
    }
    expect(connection.bufferedBytes()).toBeLessThanOrEqual(waiting)
  })

  it('answers the pings that a peer sends in one piece, and ends with one that sends more of them than anybody does', async () => {
    const { port, next } = await ourServer()
    const { socket, got } = await bareClient(port)
    const { heard } = await next()
    const pings = (count: number) => Buffer.concat(Array.from({ length: count }, () => masked(0x89, '')))
    socket.write(pings(32))
    await until(() => got().equals(Buffer.from('8a00'.repeat(32), 'hex')), { what: 'their pongs' })
    socket.write(pings(10_000))
    socket.on('end', () => socket.end())
    expect(await heard.end()).toMatchObject({ code: 1008 })
    expect(heard.alive).toBe(64)
  })

  it('cuts it off when it does not answer within the grace that it was given', async () => {
    const { port, next } = await ourServer()
    await bareClient(port)
    const { connection, heard, clock } = await next()
    const closed = connection.closeWithin(1001, 300)
    await clock.advance(300)
    await closed
    expect([heard.closed, clock.pendingTimers]).toEqual([[{ code: 1006, reason: '' }], 0])
  })
})

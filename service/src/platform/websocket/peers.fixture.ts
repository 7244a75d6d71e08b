import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { until } from '../../../test/harness/wait.ts'
import { acceptWebSocket } from './accept.ts'
import { connectWebSocket } from './connect.ts'
import { WebSocketConnection } from './connection.ts'
import type { ProtocolFault } from './protocol-fault.ts'
import { LIMITS } from './reading.fixture.ts'

/** What a connection told, in order. */
export class Heard {
  readonly messages: Buffer[] = []
  readonly kinds: boolean[] = []
  readonly faults: ProtocolFault[] = []
  readonly closed: { code: number; reason: string }[] = []
  alive = 0
  onMessage: (bytes: Buffer) => void = () => {}

  readonly listener = {
    message: (bytes: Buffer, isBinary: boolean) => {
      this.messages.push(Buffer.from(bytes))
      this.kinds.push(isBinary)
      this.onMessage(bytes)
    },
    alive: () => {
      this.alive += 1
    },
    broken: (fault: ProtocolFault) => void this.faults.push(fault),
    closed: (code: number, reason: string) => void this.closed.push({ code, reason }),
  }

  end(): Promise<{ code: number; reason: string }> {
    return until(() => this.closed[0], { what: 'the end' })
  }
}

/** One side of a connection that is ours. */
export type Ours = { connection: WebSocketConnection; heard: Heard; raw: Socket; clock: TestClock }

function ours(raw: Socket, head: Buffer, role: 'server' | 'client'): Ours {
  const clock = new TestClock()
  const limits = { ...LIMITS, maxMessageBytes: 2 ** 20 }
  const connection = new WebSocketConnection(raw, { role, limits, clock, closeTimeoutMs: 1_000 })
  const heard = new Heard()
  connection.listen(heard.listener, head)
  onTestFinished(() => connection.terminate())
  return { connection, heard, raw, clock }
}

/** A server of our own connections. @param onMade in the tick of the handshake. */
export async function ourServer(
  onMade: (made: Ours) => void = () => {},
): Promise<{ port: number; next: () => Promise<Ours> }> {
  const made: Ours[] = []
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    acceptWebSocket(socket, request.headers['sec-websocket-key'] ?? '')
    const one = ours(socket, head, 'server')
    onMade(one)
    made.push(one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, next: () => until(() => made.shift(), { what: 'a client' }) }
}

/** A connection of ours to a server. */
export function ourClient(url: string): Promise<Ours> {
  return new Promise((resolve, reject) => {
    connectWebSocket(
      { url: new URL(url), headers: {} },
      {
        opened: (socket, head) => resolve(ours(socket as Socket, head, 'client')),
        refused: ({ statusCode }) => reject(new Error(`refused with ${statusCode}`)),
        failed: reject,
      },
    )
  })
}

const HANDSHAKE = [
  'GET / HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** A bare client that has shaken hands with `port`; `first` comes with its handshake. What it gets after that is written down. */
export async function bareClient(
  port: number,
  first: Buffer = Buffer.alloc(0),
): Promise<{ socket: Socket; got: () => Buffer }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', (chunk) => chunks.push(chunk))
  onTestFinished(() => void socket.destroy())
  socket.write(Buffer.concat([Buffer.from(`${HANDSHAKE.join('\r\n')}\r\n\r\n`), first]))
  const all = () => Buffer.concat(chunks)
  await until(() => all().includes('\r\n\r\n'), { what: 'the handshake' })
  return { socket, got: () => all().subarray(all().indexOf('\r\n\r\n') + 4) }
}

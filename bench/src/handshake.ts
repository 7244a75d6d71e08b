import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const HANDSHAKE_TIMEOUT_MS = 10_000

/** A socket that speaks WebSocket frames from here on. `head` holds the bytes that came with the handshake. */
export type Upgraded = { socket: Socket; head: Buffer }

/** The `sec-websocket-accept` value that answers a client's key. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64')
}

/**
 * Opens a WebSocket (ws: or wss:) on a bare socket, without compression.
 * @throws Error when the server does not answer 101 with the right key within 10 s.
 */
export function openWebSocket(url: string): Promise<Upgraded> {
  const { protocol, hostname, port, pathname, search } = new URL(url)
  const key = randomBytes(16).toString('base64')
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>()
  const upgrade = request({
    path: `${pathname}${search}`,
    createConnection: () => {
      const address = { host: hostname, port: Number(port) }
      return protocol === 'wss:' ? connectTls(address) : connect(address)
    },
    headers: {
      host: `${hostname}:${port}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
    },
    timeout: HANDSHAKE_TIMEOUT_MS,
  })
  upgrade.on('timeout', () => upgrade.destroy(new Error('handshake timed out')))
  upgrade.on('error', reject)
  upgrade.on('response', (response) => upgrade.destroy(new Error(`handshake answered ${response.statusCode}`)))
  upgrade.on('upgrade', (response, socket, head) => {
    if (response.headers['sec-websocket-accept'] !== acceptKey(key)) {
      socket.destroy()
      reject(new Error('handshake answered with a wrong key'))
      return
    }
    resolve({ socket: bareSocket(socket), head })
  })
  upgrade.end()
  return promise
}

/** What a server is besides its sockets. `onRequest`: takes requests that are no upgrade; default: 426. `tls`: PEM texts. */
export type ListenOptions = { onRequest?: RequestListener; tls?: { key: string; cert: string } | undefined }

/** Listens on a free loopback port and hands every upgraded socket to `onSocket`, in the tick of its handshake. */
export async function listenWebSocket(
  onSocket: (upgraded: Upgraded) => void,
  { onRequest = (_request, response) => response.writeHead(426).end(), tls }: ListenOptions = {},
): Promise<Server> {
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const key = request.headers['sec-websocket-key']
    if (key === undefined) {
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      return
    }
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write(`${lines.join('\r\n')}\r\nSec-WebSocket-Accept: ${acceptKey(key)}\r\n\r\n`)
    onSocket({ socket: bareSocket(socket), head })
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(0, '127.0.0.1', resolve)
  await promise
  return server
}

/** The port of a listening server. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** node:http and node:https hand out the `net.Socket` or `tls.TLSSocket` itself, typed as the stream that it also is. */
function bareSocket(stream: Duplex): Socket {
  const socket = stream as Socket
  socket.setTimeout(0)
  socket.setNoDelay(true)
  return socket
}

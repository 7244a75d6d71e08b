import { type ClientRequest, type IncomingMessage, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { Duplex } from 'node:stream'
import { secretBytes } from '../../kernel/ids.ts'
import { acceptKey } from './accept.ts'

/** Where to, and what else the request says. */
export type WebSocketAddress = { url: URL; headers: Record<string, string> }

/** How a handshake went: one of these is told, once. */
export type HandshakeListener = {
  /** To be listened to at once. @param head is what the server sent right behind its answer. */
  opened(socket: Duplex, head: Buffer): void
  /** The server answered with another status, a redirect too. Its body has not been read: that is the listener's. */
  refused(response: IncomingMessage): void
  /** No connection, or an answer that is none. */
  failed(error: Error): void
}

/** A handshake that was begun. */
export type Handshake = {
  /** Nothing is told any more, and no connection is left, unless it was `opened`: then it is the listener's. */
  abandon(): void
}

const SCHEMES: Record<string, { scheme: string; request: typeof requestPlainly } | undefined> = {
  'ws:': { scheme: 'http:', request: requestPlainly },
  'http:': { scheme: 'http:', request: requestPlainly },
  'wss:': { scheme: 'https:', request: requestSecurely },
  'https:': { scheme: 'https:', request: requestSecurely },
}

/**
 * Asks a server for a WebSocket, on a connection of its own. No redirect is followed, and nothing ends the wait but
 * `abandon`.
 *
 * @throws TypeError for another scheme than ws, wss, http or https, or for a header that cannot be sent.
 */
export function connectWebSocket({ url, headers }: WebSocketAddress, listener: HandshakeListener): Handshake {
  const key = secretBytes(16).toString('base64')
  const request = upgradeRequest(url, headers, key)
  let isOver = false

  function over(tell: () => void): void {
    if (isOver) return
    isOver = true
    tell()
  }

  function fail(error: Error): void {
    over(() => listener.failed(error))
    request.destroy()
  }

  request.on('error', fail)
  request.on('response', (response) => {
    // A body that is cut off ends in an error and then in `close`, like every other one.
    response.on('error', () => {})
    if (response.statusCode === 101) fail(new Error('the server switched to no protocol'))
    else over(() => listener.refused(response))
  })
  request.on('upgrade', (response, socket, head) => {
    const fault = answerFault(response, key)
    if (fault === null && !isOver) return over(() => listener.opened(socket, head))
    socket.on('error', () => {})
    socket.destroy()
    fail(new Error(fault ?? 'the handshake was abandoned'))
  })
  request.end()

  return {
    abandon() {
      isOver = true
      // An upgraded connection is not the request's any more: this does not touch it.
      request.destroy()
    },
  }
}

function upgradeRequest(url: URL, headers: Record<string, string>, key: string): ClientRequest {
  const way = SCHEMES[url.protocol]
  if (!way) throw new TypeError(`no WebSocket is reached by ${url.protocol}`)
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  const target = new URL(way.scheme + url.href.slice(url.protocol.length))
  return way.request(target, { agent: false, headers: { ...headers, ...upgrade } })
}

/** RFC 6455, 4.1: what is wrong with the answer of a server that switches; null when nothing is. */
function answerFault({ statusCode, headers }: IncomingMessage, key: string): string | null {
  if (statusCode !== 101 || headers.upgrade?.toLowerCase() !== 'websocket') return 'the server speaks another protocol'
  if (!/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.connection ?? '')) return 'the server did not upgrade the connection'
  if (headers['sec-websocket-accept'] !== acceptKey(key)) return 'the server did not understand the handshake'
  if (headers['sec-websocket-extensions'] !== undefined) return 'the server uses an extension that nobody asked for'
  if (headers['sec-websocket-protocol'] !== undefined) return 'the server uses a subprotocol that nobody asked for'
  return null
}

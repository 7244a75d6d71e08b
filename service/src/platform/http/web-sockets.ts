import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, faultAt } from '../../kernel/errors.ts'
import { acceptWebSocket } from '../websocket/accept.ts'
import { FrameSocket, type FrameSocketListener } from './frame-socket.ts'
import { giveUpUnread, type HttpServer } from './server.ts'

/** What one peer may cost us. */
const LIMITS = { maxMessageBytes: 64 * 1024, maxFragments: 64, checksText: true }
/** A peer that does not answer our goodbye is cut off. */
const CLOSE_TIMEOUT_MS = 2_000

/** Carriers ask for no keep-alive of their own; what stands between us and them may. */
const PING_INTERVAL_MS = 20_000
/** A peer of which nothing came over so many pings is gone, though its connection was never closed. */
const MAX_SILENT_PINGS = 3
const CLOSE_GRACE_MS = 1_000
const GOING_AWAY = 1001
const KEY_PATH = '/headers/sec-websocket-key'

/** `letGo`: nothing that a refusal would have been written on is held by the socket any more. */
type Upgrade = { socket: Duplex; head: Buffer; letGo(): void }

/** The WebSockets of a server. */
export type WebSockets = {
  /**
   * To be called first: what a handler does for a WebSocket is not done for a request that asks for none.
   *
   * @throws AppError `upgrade_required` when it does not, `invalid_request` when it does so wrongly.
   */
  expectUpgrade(request: FastifyRequest): void
  /**
   * Makes a WebSocket of the request that a handler is answering: from then on `listener` gets what the peer sends. To be
   * called last: refuse before by throwing, as in any handler. @throws as `expectUpgrade`.
   */
  accept(request: FastifyRequest, reply: FastifyReply, listener: (socket: FrameSocket) => FrameSocketListener): void
  /** Closes them all, those that do not answer after a second by force, and takes no more. Again, it changes nothing. */
  close(): Promise<void>
}

/**
 * Lets requests for an upgrade run through the server's routes like any other, so that hooks, refusals and request ids are
 * the same; a route makes a WebSocket of one by `accept`. Pings each peer every 20 s, and drops those that are gone.
 */
export function makeWebSockets(server: HttpServer, { clock }: { clock: Clock }): WebSockets {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const open = new Map<FrameSocket, Silence>()
  let isClosed = false

  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = responseOn(request)
    giveUpUnread(server, request.socket, response)
    const destroy = () => response.destroy()
    socket.once('close', destroy)
    upgrades.set(request, { socket, head, letGo: () => socket.off('close', destroy) })
    // A peer that resets before it was answered must not end the process.
    socket.on('error', () => socket.destroy())
    server.routing(request, response)
  })
  const stopPings = clock.every(PING_INTERVAL_MS, () => pingAll(open))

  function add({ socket: raw, head }: Upgrade, makeListener: (socket: FrameSocket) => FrameSocketListener): void {
    const socket = new FrameSocket(raw, { limits: LIMITS, clock, closeTimeoutMs: CLOSE_TIMEOUT_MS })
    open.set(socket, { bytesRead: 0, pings: 0 })
    socket.listen(makeListener(socket), head, () => open.delete(socket))
    if (isClosed) socket.close(GOING_AWAY)
  }

  function upgradeOf(request: FastifyRequest): Upgrade {
    const upgrade = upgrades.get(request.raw)
    if (!upgrade) throw upgradeRequired()
    const fault = handshakeFault(request.raw)
    if (fault) throw fault
    return upgrade
  }

  return {
    expectUpgrade: (request) => void upgradeOf(request),
    accept(request, reply, listener) {
      const upgrade = upgradeOf(request)
      reply.hijack()
      reply.raw.detachSocket(request.raw.socket)
      // The peer has gone while it was found out who it is.
      if (!upgrade.socket.readable || !upgrade.socket.writable) return void upgrade.socket.destroy()
      upgrade.letGo()
      acceptWebSocket(upgrade.socket, keyOf(request.raw), { 'x-request-id': request.id })
      add(upgrade, listener)
    },
    async close() {
      isClosed = true
      stopPings()
      await Promise.all([...open.keys()].map((socket) => socket.closeWithin(GOING_AWAY, CLOSE_GRACE_MS)))
    },
  }
}

type Silence = { bytesRead: number; pings: number }

function pingAll(open: Map<FrameSocket, Silence>): void {
  for (const [socket, silence] of open) {
    const { bytesRead } = socket
    silence.pings = bytesRead === silence.bytesRead ? silence.pings + 1 : 0
    silence.bytesRead = bytesRead
    if (silence.pings >= MAX_SILENT_PINGS) socket.terminate()
    else socket.ping()
  }
}

/** What a refusal is written on. The connection ends with it: nothing else can come over one that asked for an upgrade. */
function responseOn(request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  // Node's types want the whole of a net.Socket; what an upgrade hands over is one.
  response.assignSocket(request.socket)
  response.once('finish', () => request.socket.destroySoon())
  return response
}

function upgradeRequired(): AppError {
  const headers = { upgrade: 'websocket', connection: 'Upgrade' }
  return new AppError('upgrade_required', 'This address takes WebSocket connections only.', { headers })
}

/** RFC 6455, 4.2.1. */
function handshakeFault(request: IncomingMessage): AppError | null {
  const { headers } = request
  if (headers.upgrade?.toLowerCase() !== 'websocket') return upgradeRequired()
  if (headers['sec-websocket-version'] !== '13') {
    const wanted = { 'sec-websocket-version': '13' }
    return new AppError('upgrade_required', 'This address speaks version 13 of WebSocket.', { headers: wanted })
  }
  const hasKey = /^[+/0-9A-Za-z]{22}==$/.test(keyOf(request))
  return hasKey ? null : faultAt(KEY_PATH, 'The Sec-WebSocket-Key header is missing or no such key.')
}

function keyOf({ headers }: IncomingMessage): string {
  return headers['sec-websocket-key'] ?? ''
}

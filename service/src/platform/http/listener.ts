import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { Connections } from './connections.ts'
import type { HttpLimits } from './limits.ts'
import { makeTrusts, type Trusts } from './trust.ts'

/** `isOut`: nothing of the answer is left to be handed to the connection. */
type Exchange = { request: IncomingMessage; response: ServerResponse; isOut: boolean }

const isLoopback = makeTrusts(['127.0.0.0/8', '::1'])

/** The listening side of a server: Node's HTTP server with our limits, and what is open on it. */
export class Listener {
  /** Set once, before the server is closed: what is open then is closed behind the next answer. */
  stopping = false
  readonly connections: Connections
  #limits: HttpLimits
  #exchanges = new WeakMap<Socket, Exchange>()

  constructor(limits: HttpLimits, trusts: Trusts) {
    this.#limits = limits
    // Programs of this machine share its loopback address, a proxy that was not configured among them.
    this.connections = new Connections(
      limits.maxConnectionsPerAddress,
      (address) => isIP(address) === 0 || isLoopback(address, 0) || trusts(address, 0),
    )
  }

  /** Makes the server that calls `handle` with each request. */
  serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Server {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const exchange = { request, response, isOut: false }
      this.#exchanges.set(request.socket, exchange)
      response.once('finish', () => {
        exchange.isOut = true
      })
      this.#giveUpUnread(request.socket, response)
      handle(request, response)
    }
    const server: Server = createServer(
      {
        maxHeaderSize: this.#limits.maxHeaderBytes,
        headersTimeout: this.#limits.headersTimeoutMs,
        requestTimeout: this.#limits.requestTimeoutMs,
        keepAliveTimeout: this.#limits.keepAliveTimeoutMs,
        connectionsCheckingInterval: this.#limits.timeoutCheckIntervalMs,
        requireHostHeader: false,
        // Only a GET can become a WebSocket; whatever else asks for an upgrade, with a body perhaps, is answered as it is. So is what was
        // sent before the answer to the request ahead of it: the connection is that answer's until it is out.
        shouldUpgradeCallback: ({ method, socket }) =>
          method === 'GET' && this.#isFree(socket) && server.listenerCount('upgrade') > 0,
      },
      answer,
    )
    // An `Expect` that is not understood may be ignored; Node's own refusal would have no body.
    server.on('checkExpectation', answer)
    server.prependListener('connection', (socket: Socket) => this.connections.admit(socket))
    return server
  }

  /** The same for the answer to a request for an upgrade, whose connection Node leaves to whoever takes it, timeouts included. */
  giveUpUnreadOf(socket: Socket, response: ServerResponse): void {
    this.#giveUpUnread(socket, response)
    socket.on('timeout', () => socket.destroy())
  }

  /** Ends the connection of a client that takes nothing of an answer any more. Of one that is slow a third of what the kernel keeps tells that it takes some. */
  #giveUpUnread(socket: Socket, response: ServerResponse): void {
    const { unreadTimeoutMs } = this.#limits
    response.once('prefinish', () => socket.setTimeout(unreadTimeoutMs))
    // Of what is streamed the source rests while what it has given is not taken; who waits for more of it is not deaf. That it goes on is told
    // by the response: the source may tell that only after it rests again.
    response.once('pipe', (source) => {
      source.on('pause', () => response.writableNeedDrain && socket.setTimeout(unreadTimeoutMs))
      response.on('drain', () => socket.setTimeout(0))
    })
    // Before Node sets how long the next request may be waited for.
    response.prependOnceListener('finish', () => socket.setTimeout(0))
  }

  /** Whether all answers to what a connection has asked are out: the last one goes out last. */
  #isFree(socket: Socket): boolean {
    return this.#exchanges.get(socket)?.isOut ?? true
  }

  /** The request that a connection has sent in full or in part, and its response, if it is not yet answered. */
  exchangeOf(socket: Socket): Exchange | null {
    const exchange = this.#exchanges.get(socket)
    return exchange && !exchange.response.writableEnded ? exchange : null
  }

  /** Whether what a connection sends is the rest of a request that was answered before it was there, as one is whose body is too large. */
  sendsAnswered(socket: Socket): boolean {
    const exchange = this.#exchanges.get(socket)
    return exchange?.response.writableEnded === true && !exchange.request.complete
  }

  /** Whether the answer to the last request of a connection, made or not, comes behind that to another one, which is still to come. */
  waitsItsTurn(socket: Socket): boolean {
    const exchange = this.#exchanges.get(socket)
    return exchange !== undefined && !exchange.isOut && exchange.response.socket === null
  }

  /** Whether somebody has said all of what they ask, and waits for an answer that has not begun. */
  get isAwaited(): boolean {
    for (const socket of this.connections.open) {
      const exchange = this.exchangeOf(socket)
      if (exchange?.request.complete && !exchange.response.headersSent) return true
    }
    return false
  }
}

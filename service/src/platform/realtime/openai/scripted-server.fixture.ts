import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { until } from '../../../../test/harness/wait.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there, and fails if it is not.
type Event = Record<string, any>

/** How a server answers a handshake. */
type Answer =
  | { how: 'accept'; autoPong?: boolean }
  | { how: 'refuse'; status: number; headers?: Record<string, string>; body?: string; cutOff?: boolean }
  | { how: 'hang' }

/** One connection of the driver, seen from the other side. */
export class Connection {
  readonly request: IncomingMessage
  readonly socket: WebSocket
  readonly raw: Socket
  readonly received: Event[] = []
  /** For each message whether it was binary. */
  readonly kinds: boolean[] = []
  pings = 0
  closeCode: number | null = null

  constructor(request: IncomingMessage, socket: WebSocket) {
    this.request = request
    this.socket = socket
    this.raw = request.socket
    socket.on('message', (data, isBinary) => {
      this.kinds.push(isBinary)
      this.received.push(JSON.parse(String(data)))
    })
    socket.on('ping', () => {
      this.pings++
    })
    socket.on('close', (code) => {
      this.closeCode = code
    })
    socket.on('error', () => {})
  }

  /** Sends an event as the server spells it: its type first. */
  send(type: string, fields: Event = {}): void {
    this.socket.send(JSON.stringify({ type, event_id: 'event_1', ...fields }))
  }

  /** The types of what came, without the session's settings. */
  types(): string[] {
    return this.received.map(({ type }) => type).filter((type) => type !== 'session.update')
  }

  async event(type: string, nth = 1): Promise<Event> {
    return until(() => this.received.filter((event) => event['type'] === type)[nth - 1], { what: `${nth} ${type}` })
  }
}

/** A server that does what a test tells it to. */
export class ScriptedServer {
  readonly connections: Connection[] = []
  handshakes = 0
  answer: Answer = { how: 'accept' }
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer()
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head))
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/realtime`
  }

  get openSockets(): number {
    return this.#sockets.size
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  connection(nth = 1): Promise<Connection> {
    return until(() => this.connections[nth - 1], { what: `connection ${nth}` })
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.handshakes++
    const { answer } = this
    if (answer.how !== 'accept') {
      // Only a socket that is read learns that its peer has gone.
      socket.on('end', () => socket.end()).resume()
      if (answer.how === 'refuse') refuse(socket, answer)
      return
    }
    const options = { noServer: true, perMessageDeflate: true, autoPong: answer.autoPong ?? true }
    new WebSocketServer(options).handleUpgrade(request, socket, head, (accepted) => {
      this.connections.push(new Connection(request, accepted))
    })
  }
}

function refuse(socket: Socket, answer: Extract<Answer, { how: 'refuse' }>): void {
  const { status, headers = {}, body = '', cutOff = false } = answer
  const length = Buffer.byteLength(body) + (cutOff ? 1 : 0)
  const lines = Object.entries({ ...headers, 'content-length': length }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`)
  if (cutOff) socket.end()
}

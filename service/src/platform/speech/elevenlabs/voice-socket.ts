import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../kernel/clock.ts'
import { connectWebSocket, type Handshake, type WebSocketAddress } from '../../websocket/connect.ts'
import { type ConnectionOptions, WebSocketConnection } from '../../websocket/connection.ts'

/** What the socket tells. Nothing follows `ended`. */
export type VoiceSocketListener = {
  opened(): void
  message(bytes: Buffer): void
  /** `handshake`: there never was a connection, and what its request was answered with, where it was; null: there was one. */
  ended(reason: string, handshake: { status: number | null } | null): void
}

const HANDSHAKE_MS = 2_000
const NORMAL_CLOSURE = 1000
const OPTIONS: Omit<ConnectionOptions, 'clock'> = {
  role: 'client',
  limits: { maxMessageBytes: 4 * 1024 * 1024, maxFragments: 1_024, checksText: false },
  closeTimeoutMs: 1_000,
}

/** The WebSocket to a provider of voices. It ends once; after that, or once it was let go, it says and sends nothing. */
export class VoiceSocket {
  readonly #listener: VoiceSocketListener
  readonly #clock: Clock
  readonly #handshake: Handshake
  readonly #cancelTimer: () => void
  #connection: WebSocketConnection | null = null
  #isOver = false

  constructor(address: WebSocketAddress, clock: Clock, listener: VoiceSocketListener) {
    this.#listener = listener
    this.#clock = clock
    this.#handshake = connectWebSocket(address, {
      opened: (socket, head) => this.#opened(socket, head),
      refused: (response) => this.#refused(response),
      failed: (error) => this.#end(error.message),
    })
    this.#cancelTimer = clock.after(HANDSHAKE_MS, () => this.#end('the handshake took too long'))
  }

  send(message: object): void {
    if (!this.#isOver) this.#connection?.send([Buffer.from(JSON.stringify(message))])
  }

  /** Lets go of it; with a goodbye where there is a connection. Nothing is told any more. */
  close(): void {
    if (this.#isOver) return
    this.#letGo()
    if (this.#connection) this.#connection.close(NORMAL_CLOSURE)
    else this.#handshake.abandon()
  }

  #opened(socket: Duplex, head: Buffer): void {
    const connection = new WebSocketConnection(socket, { ...OPTIONS, clock: this.#clock })
    this.#connection = connection
    this.#cancelTimer()
    connection.listen(
      {
        message: (bytes) => {
          if (!this.#isOver) this.#listener.message(bytes)
        },
        alive: () => {},
        broken: (fault) => this.#end(fault.message),
        closed: (code, reason) => this.#end(`closed with ${code}${reason === '' ? '' : `: ${reason}`}`),
      },
      head,
    )
    this.#listener.opened()
  }

  #refused(response: IncomingMessage): void {
    response.destroy()
    const status = response.statusCode ?? 0
    this.#end(`the handshake was answered with ${status}`, status)
  }

  #end(reason: string, status: number | null = null): void {
    if (this.#isOver) return
    this.#letGo()
    if (this.#connection) this.#connection.terminate()
    else this.#handshake.abandon()
    this.#listener.ended(reason, this.#connection === null ? { status } : null)
  }

  #letGo(): void {
    this.#isOver = true
    this.#cancelTimer()
  }
}

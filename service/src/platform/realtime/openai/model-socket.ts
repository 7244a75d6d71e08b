import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Cancel, Clock } from '../../../kernel/clock.ts'
import { connectWebSocket, type Handshake, type WebSocketAddress } from '../../websocket/connect.ts'
import { type ConnectionOptions, WebSocketConnection } from '../../websocket/connection.ts'
import type { Parts } from '../../websocket/frames.ts'
import {
  closeEnding,
  type Ending,
  failureEnding,
  HANDSHAKE_TIMEOUT,
  handshakeEnding,
  PEER_SILENT,
  type Refusal,
  retryAfterMs,
} from './endings.ts'

/** Where to connect to, and as whom. */
export type ModelAddress = WebSocketAddress

/** What the socket tells. Nothing follows `ended`. */
export type ModelSocketListener = {
  opened(): void
  message(frame: Buffer, isBinary: boolean): void
  /** `resetMs` is how long the server asked to wait, when it refused for a rate limit. */
  ended(ending: Ending, resetMs: number | null): void
}

const HANDSHAKE_MS = 5_000
/**
 * Where the way to the server is dead and nobody was told, the caller talks to nobody until the third ping is due: a model that owes an
 * answer is noticed sooner elsewhere, one that only listens is not.
 */
const PING_INTERVAL_MS = 5_000
const MAX_UNANSWERED_PINGS = 2
const MAX_REFUSAL_BYTES = 8 * 1024
const NORMAL_CLOSURE = 1000

/** Text is not checked for UTF-8: it is JSON, and that is checked when it is read. */
const OPTIONS: Omit<ConnectionOptions, 'clock'> = {
  role: 'client',
  limits: { maxMessageBytes: 4 * 1024 * 1024, maxFragments: 128 * 1024, checksText: false },
  closeTimeoutMs: 1_000,
}

/**
 * The WebSocket to a model. It ends once, for whatever reason, and after that it says and sends nothing; its own timers are
 * gone then, but for the one that bounds the server's answer to a goodbye.
 */
export class ModelSocket {
  readonly #listener: ModelSocketListener
  readonly #clock: Clock
  /** Null once it is done: it holds on to its request. */
  #handshake: Handshake | null
  #connection: WebSocketConnection | null = null
  #cancelTimer: Cancel
  #refusal: Refusal | null = null
  #unansweredPings = 0
  #isOver = false

  constructor(address: ModelAddress, clock: Clock, listener: ModelSocketListener) {
    this.#listener = listener
    this.#clock = clock
    this.#handshake = connectWebSocket(address, {
      opened: (socket, head) => this.#opened(socket, head),
      refused: (response) => this.#refused(response),
      failed: (error) => this.#end(failureEnding(error)),
    })
    this.#cancelTimer = clock.after(HANDSHAKE_MS, () => this.#refuse(HANDSHAKE_TIMEOUT))
  }

  /** Sends a text frame at once, or drops it when the connection is not open. */
  send(parts: Parts): void {
    if (!this.#isOver) this.#connection?.send(parts)
  }

  /** Bytes that the server has not taken yet. */
  bufferedBytes(): number {
    return this.#connection?.bufferedBytes() ?? 0
  }

  /** Says goodbye and lets go. Nothing is told any more. */
  close(): void {
    if (this.#isOver) return
    this.#letGo()
    if (this.#connection) this.#connection.close(NORMAL_CLOSURE)
    else this.#handshake?.abandon()
  }

  /** Lets go without a goodbye. Nothing is told any more. */
  abandon(): void {
    if (this.#isOver) return
    this.#letGo()
    this.#cutOff()
  }

  #opened(socket: Duplex, head: Buffer): void {
    const connection = new WebSocketConnection(socket, { ...OPTIONS, clock: this.#clock })
    this.#connection = connection
    this.#handshake = null
    connection.listen(
      {
        message: (bytes, isBinary) => this.#received(bytes, isBinary),
        alive: () => this.#heard(),
        broken: (fault) => this.#end(failureEnding(fault)),
        closed: (code, reason) => this.#end(closeEnding(code, reason)),
      },
      head,
    )
    this.#cancelTimer()
    this.#cancelTimer = this.#clock.every(PING_INTERVAL_MS, () => this.#ping())
    this.#listener.opened()
  }

  #received(bytes: Buffer, isBinary: boolean): void {
    if (this.#isOver) return
    this.#unansweredPings = 0
    this.#listener.message(bytes, isBinary)
  }

  #heard(): void {
    this.#unansweredPings = 0
  }

  #ping(): void {
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) return this.#end(PEER_SILENT)
    this.#unansweredPings += 1
    this.#connection?.ping()
  }

  /** The server answered with a status in place of a connection; its body may hold the code that tells why. */
  #refused(response: IncomingMessage): void {
    const status = response.statusCode ?? 0
    const refusal = { status, retryAfter: response.headers['retry-after'], body: Buffer.alloc(0) }
    this.#refusal = refusal
    response.on('data', (chunk: Buffer) => {
      refusal.body = Buffer.concat([refusal.body, chunk]).subarray(0, MAX_REFUSAL_BYTES)
      if (refusal.body.length === MAX_REFUSAL_BYTES) response.destroy()
    })
    response.on('close', () => this.#refuse(HANDSHAKE_TIMEOUT))
  }

  /** Ends a handshake: by what the server answered, if it did. */
  #refuse(unanswered: Ending): void {
    if (this.#refusal === null) return this.#end(unanswered)
    const isLimited = this.#refusal.status === 429
    this.#end(handshakeEnding(this.#refusal), isLimited ? retryAfterMs(this.#refusal) : null)
  }

  #end(ending: Ending, resetMs: number | null = null): void {
    if (this.#isOver) return
    this.#letGo()
    this.#cutOff()
    this.#listener.ended(ending, resetMs)
  }

  #letGo(): void {
    this.#isOver = true
    this.#cancelTimer()
  }

  #cutOff(): void {
    if (this.#connection) this.#connection.terminate()
    else this.#handshake?.abandon()
  }
}

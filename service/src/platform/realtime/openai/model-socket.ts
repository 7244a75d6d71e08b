import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RawData, WebSocket } from 'ws'
import type { Cancel, Clock } from '../../../kernel/clock.ts'
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
export type ModelAddress = { url: URL; headers: Record<string, string> }

/** What the socket tells. Nothing follows `ended`. */
export type ModelSocketListener = {
  opened(): void
  message(frame: Buffer, isBinary: boolean): void
  /** `resetMs` is how long the server asked to wait, when it refused for a rate limit. */
  ended(ending: Ending, resetMs: number | null): void
}

const HANDSHAKE_MS = 5_000
const PING_INTERVAL_MS = 20_000
/** A pong may take a minute: the model's silence while it owes an answer is noticed elsewhere, and much sooner. */
const MAX_UNANSWERED_PINGS = 3
const MAX_REFUSAL_BYTES = 8 * 1024
const NORMAL_CLOSURE = 1000

/** Both sides are our own or a big provider's: compression costs more than it saves, and JSON is checked when it is read. */
const OPTIONS = {
  perMessageDeflate: false,
  skipUTF8Validation: true,
  maxPayload: 4 * 1024 * 1024,
  /** How long the server may take to say goodbye, in ms. */
  closeTimeout: 1_000,
}

/** A buffer as a text frame: it is masked into one copy and leaves in one write, which a string would not. */
const TEXT = { binary: false }

/**
 * The WebSocket to a model (Nagle's algorithm off, as `ws` has it). It ends once, for whatever reason, and after that it
 * says and sends nothing; its own timers and listeners are gone then.
 */
export class ModelSocket {
  readonly #listener: ModelSocketListener
  readonly #socket: WebSocket
  readonly #clock: Clock
  #cancelTimer: Cancel
  #refusal: Refusal | null = null
  #unansweredPings = 0
  #isOver = false

  constructor({ url, headers }: ModelAddress, clock: Clock, listener: ModelSocketListener) {
    this.#listener = listener
    this.#clock = clock
    this.#socket = new WebSocket(url, { ...OPTIONS, headers })
    this.#cancelTimer = clock.after(HANDSHAKE_MS, () => this.#refuse(HANDSHAKE_TIMEOUT))
    this.#socket.on('open', () => this.#opened())
    this.#socket.on('message', (data, isBinary) => this.#received(data, isBinary))
    this.#socket.on('ping', () => this.#heard())
    this.#socket.on('pong', () => this.#heard())
    this.#socket.on('unexpected-response', (request, response) => this.#refused(request, response))
    this.#socket.on('error', (error) => this.#end(failureEnding(error)))
    this.#socket.on('close', (code, reason) => this.#end(closeEnding(code, reason.toString('utf8'))))
  }

  /** Sends a text frame at once, or drops it when the connection is not open. */
  send(frame: Buffer): void {
    if (this.#socket.readyState === WebSocket.OPEN && !this.#isOver) this.#socket.send(frame, TEXT)
  }

  /** Bytes that the server has not taken yet. */
  bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  /** Says goodbye and lets go. Nothing is told any more. */
  close(): void {
    if (this.#isOver) return
    this.#letGo()
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(NORMAL_CLOSURE)
    else this.#socket.terminate()
  }

  /** Lets go without a goodbye. Nothing is told any more. */
  abandon(): void {
    if (this.#isOver) return
    this.#letGo()
    this.#socket.terminate()
  }

  #opened(): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#clock.every(PING_INTERVAL_MS, () => this.#ping())
    this.#listener.opened()
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#unansweredPings = 0
    // `ws` gives buffers unless it is told otherwise.
    this.#listener.message(data as Buffer, isBinary)
  }

  #heard(): void {
    this.#unansweredPings = 0
  }

  #ping(): void {
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) return this.#end(PEER_SILENT)
    this.#unansweredPings += 1
    this.#socket.ping()
  }

  /** The server answered with a status in place of a connection; its body may hold the code that tells why. */
  #refused(request: ClientRequest, response: IncomingMessage): void {
    const status = response.statusCode ?? 0
    const refusal = { status, retryAfter: response.headers['retry-after'], body: Buffer.alloc(0) }
    this.#refusal = refusal
    response.on('data', (chunk: Buffer) => {
      refusal.body = Buffer.concat([refusal.body, chunk]).subarray(0, MAX_REFUSAL_BYTES)
      if (refusal.body.length === MAX_REFUSAL_BYTES) request.destroy()
    })
    // A body that is cut off ends in an error and then in `close`, like every other one.
    response.on('error', () => {})
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
    this.#socket.terminate()
    this.#listener.ended(ending, resetMs)
  }

  #letGo(): void {
    this.#isOver = true
    this.#cancelTimer()
    this.#socket.removeAllListeners()
    // What goes wrong from here on is nobody's concern, but an error without a listener would end the process.
    this.#socket.on('error', () => {})
  }
}

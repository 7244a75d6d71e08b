import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Cancel, type Clock, othersFirst } from '../../kernel/clock.ts'
import { ABNORMAL } from './close-payload.ts'
import { FrameSender } from './frame-sender.ts'
import { closeFrame, controlFrame, type Parts } from './frames.ts'
import { type MaskSource, nextMask } from './masking.ts'
import { MessageReader, type ReaderLimits } from './message-reader.ts'
import { OPCODE } from './opcodes.ts'
import { ProtocolFault } from './protocol-fault.ts'
import { readShared } from './shared-reads.ts'

/** What a peer does. Called synchronously from the socket's own events. */
export type ConnectionListener = {
  /** A whole message. The bytes are only valid now. None comes once the connection was closed from here. */
  message(bytes: Buffer, isBinary: boolean): void
  /** A ping or a pong came. */
  alive(): void
  /** The peer broke the protocol: it is told, and the connection ends. */
  broken(fault: ProtocolFault): void
  /** Comes once, last: the peer's close code, 1005 when it gave none, 1006 when there was no goodbye; a fault's own. */
  closed(code: number, reason: string): void
}

/** How a connection behaves. */
export type ConnectionOptions = {
  /** A client masks what it sends, and leaves it to the server to end the connection. */
  role: 'server' | 'client'
  limits: ReaderLimits
  clock: Clock
  /** How long a peer may take to answer a goodbye, and to end the connection after it. */
  closeTimeoutMs: number
}

/** Whoever does not take its pongs needs no more of them. */
const MAX_BUFFERED_FOR_PONG_BYTES = 64 * 1024
/** Pings and pongs that may come in one piece: peers send one in a while. Each ping costs a write, and nobody above counts them. */
const MAX_CONTROLS_IN_PIECE = 32
/** A piece of a peer that has more to say, as a rule: all that is there of it is read before anybody else's, up to two megabytes. */
const LONG_PIECE_BYTES = 16 * 1024
const NOTHING = Buffer.alloc(0)

/**
 * A WebSocket (RFC 6455) on a socket whose handshake is done: open → closing → closed.
 *
 * closing: one side has said goodbye, or has ended its half; nothing is sent and no message comes any more. closed: the
 * socket is gone, the listener knows, and no timer is left. What the peer does to the socket is never thrown.
 */
export class WebSocketConnection {
  readonly #socket: Duplex
  readonly #options: ConnectionOptions
  readonly #masks: MaskSource
  readonly #sender: FrameSender
  readonly #reader: MessageReader
  readonly #whenClosed: (() => void)[] = []
  #listener: ConnectionListener | null = null
  #state: 'open' | 'closing' | 'closed' = 'open'
  #controlsInPiece = 0
  #isPaused = false
  #hasSaidGoodbye = false
  #code = ABNORMAL
  #reason = ''
  #cancelTimer: Cancel | null = null

  constructor(socket: Duplex, options: ConnectionOptions) {
    const isServer = options.role === 'server'
    this.#socket = socket
    this.#options = options
    this.#masks = isServer ? null : nextMask
    this.#sender = new FrameSender(socket, this.#masks)
    this.#reader = new MessageReader(isServer ? 'masked' : 'unmasked', options.limits, {
      message: (bytes, isBinary) => this.#message(bytes, isBinary),
      ping: (payload) => this.#pinged(payload),
      pong: () => this.#alive(),
      close: (code, reason) => this.#heardGoodbye(code, reason),
    })
  }

  /** To be called once, in the tick in which the handshake was done. @param head is read before anything else. */
  listen(listener: ConnectionListener, head: Buffer): void {
    const socket = this.#socket
    this.#listener = listener
    if (socket instanceof Socket) socket.setNoDelay(true).setTimeout(0)
    if (head.length > 0) socket.unshift(head)
    // `close` follows, and tells all that there is to know.
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.#ended())
    socket.on('close', () => this.#closed())
    // Also for what is read into shared memory: it keeps the socket flowing, and brings the head.
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    readShared(socket, (bytes) => this.#receive(bytes))
  }

  /** Sends a text message in one write. Of a connection that is not open nothing is sent, and nobody is told. */
  send(parts: Parts): void {
    if (this.#state === 'open') this.#sender.send(parts)
  }

  /** Sends several text messages in one write; otherwise as `send`. */
  sendAll(messages: readonly Parts[]): void {
    if (this.#state === 'open') this.#sender.sendAll(messages)
  }

  ping(): void {
    if (this.#state === 'open') this.#socket.write(controlFrame(OPCODE.ping, NOTHING, this.#masks))
  }

  /** Bytes that the peer has not taken yet. */
  bufferedBytes(): number {
    return this.#sender.bufferedBytes()
  }

  /** Bytes that came from the peer since its connection was made; grows with each sign of life. 0 for what is no socket. */
  get bytesRead(): number {
    return this.#socket instanceof Socket ? this.#socket.bytesRead : 0
  }

  /** Stops reading: the peer's own sending slows down. What was read already still arrives. */
  pause(): void {
    if (this.#state !== 'open') return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Says goodbye. Again, it changes nothing. @param reason is shown to the peer; it is cut to 123 bytes. */
  close(code: number, reason = ''): void {
    if (this.#state !== 'open') return
    this.#beginClosing()
    this.#hasSaidGoodbye = true
    this.#socket.write(closeFrame(code, reason, this.#masks))
  }

  /** Says goodbye, and ends the connection when the peer does not answer within `graceMs`. Resolves when it is over. */
  closeWithin(code: number, graceMs: number): Promise<void> {
    if (this.#state === 'closed') return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(graceMs, () => this.terminate())
      this.#whenClosed.push(() => {
        cancel()
        resolve()
      })
      this.close(code)
    })
  }

  /** Ends the connection without a goodbye. */
  terminate(): void {
    if (this.#state === 'closed') return
    this.#state = 'closing'
    this.#cancelTimer?.()
    this.#reader.stop()
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#controlsInPiece = 0
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ProtocolFault)) throw error
      this.#broken(error)
    }
    if (chunk.length >= LONG_PIECE_BYTES) this.#letOthersGoFirst()
  }

  /** One that floods is heard a piece at a time, or every other connection would wait until all of it was read. */
  #letOthersGoFirst(): void {
    if (this.#state !== 'open' || this.#isPaused) return
    this.#socket.pause()
    void othersFirst().then(() => {
      if (!this.#isPaused) this.#socket.resume()
    })
  }

  #message(bytes: Buffer, isBinary: boolean): void {
    if (this.#state === 'open') this.#listener?.message(bytes, isBinary)
  }

  #pinged(payload: Buffer): void {
    this.#alive()
    const isTaken = this.bufferedBytes() <= MAX_BUFFERED_FOR_PONG_BYTES
    if (this.#state === 'open' && isTaken) this.#socket.write(controlFrame(OPCODE.pong, payload, this.#masks))
  }

  /** @throws ProtocolFault when too many of them came at once. */
  #alive(): void {
    this.#controlsInPiece += 1
    if (this.#controlsInPiece > MAX_CONTROLS_IN_PIECE) throw new ProtocolFault('WS_ERR_TOO_MANY_CONTROL_FRAMES')
    this.#listener?.alive()
  }

  #heardGoodbye(code: number, reason: string): void {
    this.#beginClosing()
    this.#code = code
    this.#reason = reason
    if (!this.#hasSaidGoodbye) this.#socket.write(closeFrame(code, '', this.#masks))
    this.#hasSaidGoodbye = true
    // The side that ends first is the one that keeps the port for a while: RFC 6455, 7.1.1 gives that to the server.
    if (this.#options.role === 'server') this.#socket.end()
  }

  #broken(fault: ProtocolFault): void {
    this.#beginClosing()
    this.#code = fault.closeCode
    if (!this.#hasSaidGoodbye) this.#socket.write(closeFrame(fault.closeCode, '', this.#masks))
    this.#hasSaidGoodbye = true
    // What else the peer has sent is still taken, and dropped: unread, it would reset the connection under the goodbye.
    this.#socket.end()
    this.#listener?.broken(fault)
  }

  /** The peer has ended its half, after a goodbye or without one. */
  #ended(): void {
    this.#beginClosing()
    this.#reader.stop()
    this.#socket.end()
  }

  #beginClosing(): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#cancelTimer = this.#options.clock.after(this.#options.closeTimeoutMs, () => this.#socket.destroy())
    // A goodbye, or an end, is only heard by one who listens.
    this.resume()
  }

  #closed(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#reader.stop()
    this.#cancelTimer?.()
    for (const tell of this.#whenClosed.splice(0)) tell()
    this.#listener?.closed(this.#code, this.#reason)
  }
}

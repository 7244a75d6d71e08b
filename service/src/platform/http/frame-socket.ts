import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { exemptConnection } from './connections.ts'

/** What a peer does. Called synchronously from the socket's own events. */
export type FrameSocketListener = {
  /** A whole message. `frame` is the listener's to keep. */
  frame(frame: Buffer, isBinary: boolean): void
  /** Comes once, last: the peer's close code, 1006 when there was none. */
  closed(code: number): void
}

/** Sent without waiting for the other small writes of the same tick. */
const TEXT = { binary: false, compress: false, fin: true }

/** A WebSocket as those above see it: text frames out of bytes, and nothing that throws once the peer is gone. */
export class FrameSocket {
  readonly #webSocket: WebSocket
  readonly #raw: Duplex

  constructor(webSocket: WebSocket, raw: Duplex) {
    this.#webSocket = webSocket
    this.#raw = raw
    if (raw instanceof Socket) raw.setNoDelay(true)
  }

  /** To be called once, by whoever made the socket. */
  listen(listener: FrameSocketListener, onClosed: () => void): void {
    this.#webSocket.on('message', (data: Buffer, isBinary) => listener.frame(data, isBinary))
    // What the protocol forbids (too large, no UTF-8, ...) ends the connection by itself: `close` follows.
    this.#webSocket.on('error', () => {})
    this.#webSocket.once('close', (code) => {
      onClosed()
      listener.closed(code)
    })
  }

  /** Sends a text frame. Of a socket that is not open any more nothing is sent, and nobody is told. */
  send(frame: Buffer): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.send(frame, TEXT)
  }

  /** Bytes that the peer has not taken yet. */
  bufferedBytes(): number {
    return this.#webSocket.bufferedAmount
  }

  /** Bytes that came from the peer since the connection was opened; grows with each sign of life. */
  get bytesRead(): number {
    return this.#raw instanceof Socket ? this.#raw.bytesRead : 0
  }

  /** Stops reading: the peer's own sending slows down. What was read already still arrives. */
  pause(): void {
    this.#webSocket.pause()
  }

  resume(): void {
    this.#webSocket.resume()
  }

  ping(): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping()
  }

  /** The peer was let in for good: its connection does not count among those of its address any more. */
  exempt(): void {
    if (this.#raw instanceof Socket) exemptConnection(this.#raw)
  }

  /** Says goodbye. @param reason of at most 123 bytes; it is shown to the peer. */
  close(code: number, reason = ''): void {
    this.#webSocket.close(code, reason)
  }

  /** Says goodbye, and ends the connection when the peer does not answer in time. Resolves when it is over. */
  closeWithin(code: number, graceMs: number, clock: Clock): Promise<void> {
    if (this.#webSocket.readyState === this.#webSocket.CLOSED) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = clock.after(graceMs, () => this.terminate())
      this.#webSocket.once('close', () => {
        cancel()
        resolve()
      })
      this.close(code)
    })
  }

  /** Ends the connection without a goodbye. */
  terminate(): void {
    this.#webSocket.terminate()
  }
}

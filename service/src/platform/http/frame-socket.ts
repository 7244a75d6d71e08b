import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, WebSocketConnection } from '../websocket/connection.ts'
import type { Parts } from '../websocket/frames.ts'
import { exemptConnection } from './connections.ts'

/** What a peer does. Called synchronously from the socket's own events. */
export type FrameSocketListener = {
  /** A whole message. `frame` is only valid now. None comes once the socket was closed from here. */
  frame(frame: Buffer, isBinary: boolean): void
  /** Comes once, last: the peer's close code, 1006 when there was none, and that of its fault when it broke the protocol. */
  closed(code: number): void
}

/** A WebSocket as those above see it: text frames out of bytes, and nothing that throws once the peer is gone. */
export class FrameSocket {
  readonly #raw: Duplex
  readonly #connection: WebSocketConnection

  constructor(raw: Duplex, options: Omit<ConnectionOptions, 'role'>) {
    this.#raw = raw
    this.#connection = new WebSocketConnection(raw, { ...options, role: 'server' })
  }

  /** To be called once, by whoever made the socket. @param head is what the peer sent right behind its handshake. */
  listen(listener: FrameSocketListener, head: Buffer, onClosed: () => void): void {
    const events = {
      message: (bytes: Buffer, isBinary: boolean) => listener.frame(bytes, isBinary),
      alive: () => {},
      // What the protocol forbids (too large, no UTF-8, ...) ends the connection by itself: `closed` follows.
      broken: () => {},
      closed: (code: number) => {
        onClosed()
        listener.closed(code)
      },
    }
    this.#connection.listen(events, head)
  }

  /** Sends a text frame. Of a socket that is not open any more nothing is sent, and nobody is told. */
  send(parts: Parts): void {
    this.#connection.send(parts)
  }

  /** Sends several text frames at once; otherwise as `send`. */
  sendAll(messages: readonly Parts[]): void {
    this.#connection.sendAll(messages)
  }

  /** Bytes that the peer has not taken yet. */
  bufferedBytes(): number {
    return this.#connection.bufferedBytes()
  }

  /** Bytes that came from the peer since the connection was opened; grows with each sign of life. */
  get bytesRead(): number {
    return this.#connection.bytesRead
  }

  /** Stops reading: the peer's own sending slows down. What was read already still arrives. */
  pause(): void {
    this.#connection.pause()
  }

  resume(): void {
    this.#connection.resume()
  }

  ping(): void {
    this.#connection.ping()
  }

  /** The peer was let in for good: its connection does not count among those of its address any more. */
  exempt(): void {
    if (this.#raw instanceof Socket) exemptConnection(this.#raw)
  }

  /** Says goodbye. @param reason is shown to the peer; it is cut to 123 bytes. */
  close(code: number, reason = ''): void {
    this.#connection.close(code, reason)
  }

  /** Says goodbye, and ends the connection when the peer does not answer in time. Resolves when it is over. */
  closeWithin(code: number, graceMs: number): Promise<void> {
    return this.#connection.closeWithin(code, graceMs)
  }

  /** Ends the connection without a goodbye. */
  terminate(): void {
    this.#connection.terminate()
  }
}

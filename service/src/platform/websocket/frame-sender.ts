import type { Duplex } from 'node:stream'
import { frameBytes, framesBytes, type Parts, writeFrame, writeFrames } from './frames.ts'
import type { MaskSource } from './masking.ts'
import { SharedWrites } from './shared-writes.ts'

/** The first message of a process shows how to write past the stream. */
const MAX_TRIES = 2

/** Sends the messages of one side of a connection, each in one write, in the order in which they are given. */
export class FrameSender {
  readonly #socket: Duplex
  readonly #masks: MaskSource
  #shared: SharedWrites | null = null
  #tries = 0

  constructor(socket: Duplex, masks: MaskSource) {
    this.#socket = socket
    this.#masks = masks
  }

  /** A text message as one frame. */
  send(parts: Parts): void {
    const bytes = frameBytes(parts, this.#masks)
    const room = this.#room(bytes)
    const frame = room ?? Buffer.allocUnsafe(bytes)
    writeFrame(frame, 0, parts, this.#masks)
    this.#write(frame, room !== null)
  }

  /** Several text messages in one write, a frame for each. */
  sendAll(messages: readonly Parts[]): void {
    const bytes = framesBytes(messages, this.#masks)
    const room = this.#room(bytes)
    const frames = room ?? Buffer.allocUnsafe(bytes)
    writeFrames(frames, messages, this.#masks)
    this.#write(frames, room !== null)
  }

  /** Bytes that the peer has not taken yet; up to 64 KiB more may wait before what waits in the stream. */
  bufferedBytes(): number {
    const inStream = this.#socket.writableLength
    return this.#shared === null ? inStream : Math.max(inStream, this.#shared.queuedBytes)
  }

  #room(bytes: number): Buffer | null {
    if (this.#shared === null && this.#tries < MAX_TRIES) {
      this.#tries += 1
      this.#shared = SharedWrites.to(this.#socket)
    }
    return this.#shared === null ? null : this.#shared.room(bytes)
  }

  #write(frames: Buffer, isShared: boolean): void {
    if (isShared) this.#shared?.write(frames)
    else this.#socket.write(frames)
  }
}

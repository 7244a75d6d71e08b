import type { Socket } from 'node:net'
import { applyMask, headerBytes, OPCODE, writeHeader } from './framing.ts'

const SCRATCH_BYTES = 65_536

/**
 * One buffer in which frames are put together and from which they are sent, used again for the next send.
 *
 * The kernel takes nearly every write at once; when it does not, Node still needs the bytes, and a new buffer is taken.
 */
export class Scratch {
  #bytes = Buffer.allocUnsafe(SCRATCH_BYTES)
  #at = 0

  /** Adds a text frame with `payload`, masked when `mask` is given. */
  add(payload: Uint8Array, mask?: number): void {
    const at = this.#open(payload.length, mask)
    this.#bytes.set(payload, at)
    if (mask !== undefined) applyMask(this.#bytes, at, this.#at, mask)
  }

  /** Adds an unmasked text frame of ASCII. */
  addText(text: string): void {
    const at = this.#open(text.length)
    this.#bytes.write(text, at, 'latin1')
  }

  /** Adds an unmasked text frame of `head`, `middle`, `tail` (ASCII). Returns the buffer and where `middle` stands in it. */
  addParts(head: string, middle: Buffer, tail: string): { bytes: Buffer; at: number } {
    const headAt = this.#open(head.length + middle.length + tail.length)
    const at = headAt + head.length
    this.#bytes.write(head, headAt, 'latin1')
    this.#bytes.set(middle, at)
    this.#bytes.write(tail, at + middle.length, 'latin1')
    return { bytes: this.#bytes, at }
  }

  /** Sends all added frames in one write. */
  send(socket: Socket): void {
    socket.write(this.#bytes.subarray(0, this.#at))
    this.#at = 0
    if (socket.writableLength > 0) this.#bytes = Buffer.allocUnsafe(SCRATCH_BYTES)
  }

  /** Makes room for one frame, writes its header and returns where the payload goes. @throws RangeError when 64 KiB are full. */
  #open(payloadBytes: number, mask?: number): number {
    const frameBytes = headerBytes(payloadBytes, mask !== undefined) + payloadBytes
    if (this.#at + frameBytes > SCRATCH_BYTES) throw new RangeError('too much for one send')
    const payloadAt = writeHeader(this.#bytes, this.#at, { opcode: OPCODE.text, payloadBytes, mask })
    this.#at += frameBytes
    return payloadAt
  }
}

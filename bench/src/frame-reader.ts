import { applyMask, OPCODE } from './framing.ts'

/** Receives one message: its payload is `bytes[start, end)`, unmasked, valid only until the call returns. */
export type OnMessage = (opcode: number, bytes: Buffer, start: number, end: number) => void

/** `masked`: whether the peer must mask, i.e. is a client. `messageBytesMax`: the largest message that is taken. */
export type FrameReaderOptions = { masked: boolean; messageBytesMax?: number; onMessage: OnMessage }

const MESSAGE_BYTES_MAX = 1_048_576

/**
 * Cuts a byte stream into WebSocket messages, in place: a chunk that holds whole frames is not copied.
 *
 * A message in fragments is joined. `push` throws on what RFC 6455 forbids (reserved bits, a mask that is missing or
 * not wanted, a continuation of nothing) and on a message over `messageBytesMax`; the socket is then to be destroyed.
 */
export class FrameReader {
  readonly #masked: boolean
  readonly #messageBytesMax: number
  readonly #onMessage: OnMessage
  #rest: Buffer | undefined
  #fragments: Buffer[] = []
  #fragmentsOpcode: number = OPCODE.continuation

  constructor(options: FrameReaderOptions) {
    this.#masked = options.masked
    this.#messageBytesMax = options.messageBytesMax ?? MESSAGE_BYTES_MAX
    this.#onMessage = options.onMessage
  }

  /** Reads the next bytes of the stream. Unmasks inside `chunk`, which therefore changes. */
  push(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (at < bytes.length) {
      const next = this.#frame(bytes, at)
      if (next === at) break
      at = next
    }
    // A copy, because the chunk's memory may be the socket's shared read buffer.
    this.#rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined
  }

  /** Handles the frame at `at` and returns where the next one begins, or `at` when it is not whole yet. */
  #frame(bytes: Buffer, at: number): number {
    if (bytes.length - at < 2) return at
    const first = bytes[at] as number
    const second = bytes[at + 1] as number
    if ((first & 0x70) !== 0) throw new Error('reserved bit set')
    if (second >= 0x80 !== this.#masked) throw new Error(this.#masked ? 'mask missing' : 'mask not wanted')

    const code = second & 0x7f
    let payloadAt = at + (code < 126 ? 2 : code === 126 ? 4 : 10)
    if (this.#masked) payloadAt += 4
    if (payloadAt > bytes.length) return at

    const payloadBytes = code < 126 ? code : code === 126 ? bytes.readUInt16BE(at + 2) : readLength64(bytes, at + 2)
    if (payloadBytes > this.#messageBytesMax) throw new Error('message too big')
    const end = payloadAt + payloadBytes
    if (end > bytes.length) return at

    if (this.#masked) applyMask(bytes, payloadAt, end, bytes.readUInt32BE(payloadAt - 4))
    this.#deliver(first, bytes, payloadAt, end)
    return end
  }

  #deliver(first: number, bytes: Buffer, start: number, end: number): void {
    const opcode = first & 0x0f
    const isFinal = first >= 0x80
    if (opcode >= OPCODE.close || (isFinal && opcode !== OPCODE.continuation)) {
      this.#onMessage(opcode, bytes, start, end)
      return
    }
    this.#collect(opcode, Buffer.from(bytes.subarray(start, end)))
    if (!isFinal) return
    const message = Buffer.concat(this.#fragments)
    this.#fragments = []
    this.#onMessage(this.#fragmentsOpcode, message, 0, message.length)
  }

  #collect(opcode: number, fragment: Buffer): void {
    const isFirst = this.#fragments.length === 0
    if (isFirst === (opcode === OPCODE.continuation)) throw new Error('continuation out of place')
    if (isFirst) this.#fragmentsOpcode = opcode
    this.#fragments.push(fragment)
    const totalBytes = this.#fragments.reduce((sum, part) => sum + part.length, 0)
    if (totalBytes > this.#messageBytesMax) throw new Error('message too big')
  }
}

function readLength64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}

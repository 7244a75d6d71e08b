import { MASK_BYTES, readMask } from './masking.ts'
import { FINAL, LENGTH_IN_2, LENGTH_IN_8, MASKED, OPCODE } from './opcodes.ts'

/** Both bytes that say what kind of frame this is and how long its header is. */
export const KIND_BYTES = 2
const LONGEST_BYTES = 14
const RESERVED = 0x70

/** The header of a frame, taken byte by byte: it may be cut anywhere. */
export class FrameHeader {
  readonly #bytes = Buffer.alloc(LONGEST_BYTES)
  #length = 0
  /** Where the length of the payload ends. */
  #lengthEnd = KIND_BYTES
  #end = KIND_BYTES

  /** How many bytes of it have come. */
  get length(): number {
    return this.#length
  }

  get isWhole(): boolean {
    return this.#length >= this.#end
  }

  /** Whether the byte that came last made the payload's length known. */
  get endsLength(): boolean {
    return this.#length === this.#lengthEnd
  }

  add(byte: number): void {
    this.#bytes[this.#length] = byte
    this.#length += 1
    if (this.#length !== KIND_BYTES) return
    const short = this.shortLength
    this.#lengthEnd = KIND_BYTES + (short === LENGTH_IN_2 ? 2 : short === LENGTH_IN_8 ? 8 : 0)
    this.#end = this.#lengthEnd + (this.isMasked ? MASK_BYTES : 0)
  }

  /** The frame is over; the next byte is another's. */
  clear(): void {
    this.#length = 0
    this.#lengthEnd = KIND_BYTES
    this.#end = KIND_BYTES
  }

  get isFinal(): boolean {
    return (this.#byte(0) & FINAL) !== 0
  }

  get hasReservedBits(): boolean {
    return (this.#byte(0) & RESERVED) !== 0
  }

  get opcode(): number {
    return this.#byte(0) & 0x0f
  }

  get isControl(): boolean {
    return this.opcode >= OPCODE.close
  }

  get isMasked(): boolean {
    return (this.#byte(1) & MASKED) !== 0
  }

  /** The length in the second byte: over 125 it says only where the length is. */
  get shortLength(): number {
    return this.#byte(1) & 0x7f
  }

  /** NaN for a length whose first bit is set: there is no such length. Over 2^53 it is not exact. */
  get payloadBytes(): number {
    const short = this.shortLength
    if (short < LENGTH_IN_2) return short
    if (short === LENGTH_IN_2) return this.#bytes.readUInt16BE(KIND_BYTES)
    const high = this.#bytes.readInt32BE(KIND_BYTES)
    return high < 0 ? Number.NaN : high * 2 ** 32 + this.#bytes.readUInt32BE(KIND_BYTES + 4)
  }

  get mask(): number {
    return readMask(this.#bytes, this.#lengthEnd)
  }

  #byte(index: number): number {
    return this.#bytes[index] as number
  }
}

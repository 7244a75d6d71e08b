import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A log is a row of chunks, each its length in four bytes and then deflated text: one that was torn off ends it. */
const LENGTH_BYTES = 4
/** Of text: about 40 s of a call. */
const CHUNK_BYTES = 16 * 1024
/**
 * Beyond the first levels it takes more time than it saves room, and what is looked back at is one chunk. What Node packs with stays,
 * with the memory that it writes to, until the slow collector comes: that is not to be a slice of a piece of 64 KiB with all that was
 * sent around it, so it asks for as much as has memory of its own, of which only what is written to is ever there.
 */
const DEFLATE = { level: 3, windowBits: 14, memLevel: 7, chunkSize: 32 * 1024 }

/**
 * The chunk that is being written. It is bytes in one place: as strings, lines that wait for the rest of their chunk take five times
 * as much, and for so long that only the slow collector lets go of them.
 */
export class OpenChunk {
  readonly #room = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #bytes = 0

  /** Puts a line behind the others. @returns false where there is no room for it. */
  add(line: string): boolean {
    if (this.#bytes + Buffer.byteLength(line) > CHUNK_BYTES) return false
    this.#bytes += this.#room.write(line, this.#bytes)
    return true
  }

  /** What is in it, packed; null for nothing. It is empty then. */
  take(): Buffer | null {
    const packed = this.#bytes === 0 ? null : packChunk(this.#room.subarray(0, this.#bytes))
    this.#bytes = 0
    return packed
  }
}

/** Packs a piece of text of some 16 KiB: a tenth of a millisecond, and to hand it to another thread takes longer than that. */
export function packChunk(text: string | Buffer): Buffer {
  const packed = deflateRawSync(text, DEFLATE)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(packed.length)
  return Buffer.concat([length, packed])
}

/** The text of all whole chunks. */
export function unpackChunks(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at + LENGTH_BYTES <= bytes.length; ) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at)
    if (end > bytes.length) break
    text += inflateRawSync(bytes.subarray(at + LENGTH_BYTES, end)).toString()
    at = end
  }
  return text
}

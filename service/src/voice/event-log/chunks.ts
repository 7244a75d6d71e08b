import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A log is a row of chunks, each its length in four bytes and then deflated text: one that was torn off ends it. */
const LENGTH_BYTES = 4
/** Of text: about 40 s of a call. */
const CHUNK_BYTES = 16 * 1024
/**
 * Beyond the first levels it takes more time than it saves room, and what is looked back at is one chunk. It writes to as much as has
 * memory of its own, and is no slice of a piece of 64 KiB with all that was sent around it.
 */
const DEFLATE = { level: 3, windowBits: 14, memLevel: 7, chunkSize: 32 * 1024 }
/** So many rooms are kept for the calls to come. */
const MAX_IDLE_ROOMS = 64

/**
 * The memory that open chunks are written to. Those of logs that have ended are used again: a room lives as long as its call, so that to
 * make each anew leaves all of them to the slow collector.
 */
export class ChunkRooms {
  readonly #idle: Buffer[] = []

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  giveBack(room: Buffer): void {
    if (this.#idle.length < MAX_IDLE_ROOMS) this.#idle.push(room)
  }
}

/**
 * The chunk that is being written. It is bytes in one place: as strings, lines that wait for the rest of their chunk take five times
 * as much, and for so long that only the slow collector lets go of them.
 */
export class OpenChunk {
  readonly #rooms: ChunkRooms
  #room: Buffer | null
  #bytes = 0

  constructor(rooms: ChunkRooms) {
    this.#rooms = rooms
    this.#room = rooms.take()
  }

  /** Puts a line behind the others. @returns false where there is no room for it, and once the chunk was closed. */
  add(line: string): boolean {
    if (this.#room === null || this.#bytes + Buffer.byteLength(line) > CHUNK_BYTES) return false
    this.#bytes += this.#room.write(line, this.#bytes)
    return true
  }

  /** What is in it, packed; null for nothing. It is empty then. */
  take(): Buffer | null {
    const packed = this.#room === null || this.#bytes === 0 ? null : packChunk(this.#room.subarray(0, this.#bytes))
    this.#bytes = 0
    return packed
  }

  /** The same for the last time: its room is another's from now on. */
  close(): Buffer | null {
    const packed = this.take()
    if (this.#room !== null) this.#rooms.giveBack(this.#room)
    this.#room = null
    return packed
  }
}

/** What Node has packed, and with what. */
type Packed = { buffer: Buffer; engine: { _outBuffer: Buffer | null } }

/**
 * Packs a piece of text of some 16 KiB: a tenth of a millisecond, and to hand it to another thread takes longer than that.
 *
 * What Node packs with stays until the slow collector comes, so the memory that it has written to is taken from it: where a later Node
 * calls that another name, it only stays as long.
 */
export function packChunk(text: string | Buffer): Buffer {
  const { buffer: packed, engine } = deflateRawSync(text, { ...DEFLATE, info: true }) as unknown as Packed
  engine._outBuffer = null
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

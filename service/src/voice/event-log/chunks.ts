import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A log is a row of chunks, each its length in four bytes and then deflated text: one that was torn off ends it. */
const LENGTH_BYTES = 4
/** Beyond the first levels it takes more time than it saves room. */
const LEVEL = 3

/** Packs a piece of text of some 16 KiB: a tenth of a millisecond, and to hand it to another thread takes longer than that. */
export function packChunk(text: string): Buffer {
  const packed = deflateRawSync(text, { level: LEVEL })
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

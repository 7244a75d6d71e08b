import { deflateRaw, inflateRawSync } from 'node:zlib'

/** A log is a row of chunks, each its length in four bytes and then deflated text: one that was torn off ends it. */
const LENGTH_BYTES = 4
/** Beyond the first levels it takes more time than it saves room. */
const LEVEL = 3

/** Packs a piece of text, on another thread. */
export function packChunk(text: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflateRaw(text, { level: LEVEL }, (error, packed) => {
      if (error) return reject(error)
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt32BE(packed.length)
      resolve(Buffer.concat([length, packed]))
    })
  })
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

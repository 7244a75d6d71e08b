import { secretBytes } from '../../kernel/ids.ts'

/** Bytes of a mask on the wire. */
export const MASK_BYTES = 4

/** Gives the next frame's mask; null on the side that sends none, a server. */
export type MaskSource = (() => number) | null

/** Asking the system for random bytes costs as much as a frame does, so many masks are drawn at once. */
const POOL_BYTES = 8 * 1024
let pool: Buffer = Buffer.alloc(0)
let usedBytes = 0

/** A mask that nobody can guess, as 32 bits whose highest byte comes first. No bytes are given out twice. */
export function nextMask(): number {
  if (usedBytes === pool.length) {
    pool = secretBytes(POOL_BYTES)
    usedBytes = 0
  }
  const mask = readMask(pool, usedBytes)
  usedBytes += MASK_BYTES
  return mask
}

const WORD_BYTES = 4
/** The words of a memory have their bytes in the order of the machine. */
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** A memory as words. That of what is read is always the same, and that of what is written for many frames. */
let words: Int32Array = new Int32Array(0)
let otherWords: Int32Array = words

/** Masks the bytes from `start` to `end` where they stand, or unmasks them: it is the same. Four at a time, where words begin. */
export function applyMask(bytes: Buffer, start: number, end: number, mask: number): void {
  const offset = bytes.byteOffset
  const firstWord = Math.min(end, start + ((WORD_BYTES - ((offset + start) % WORD_BYTES)) % WORD_BYTES))
  const lastWord = end - ((end - firstWord) % WORD_BYTES)
  maskBytes(bytes, start, firstWord, mask)
  // The mask as it stands where the words begin, which is where the rest of the bytes finds it, too.
  const shift = 8 * (firstWord - start)
  const turned = shift === 0 ? mask : (mask << shift) | (mask >>> (32 - shift))
  const word = IS_LITTLE_ENDIAN ? swapped(turned) : turned
  const of = wordsOf(bytes)
  for (let at = (offset + firstWord) >> 2, last = (offset + lastWord) >> 2; at < last; at++) {
    of[at] = (of[at] as number) ^ word
  }
  maskBytes(bytes, lastWord, end, turned)
}

/** Fewer bytes than a mask has. */
function maskBytes(bytes: Buffer, start: number, end: number, mask: number): void {
  for (let at = start, shift = 24; at < end; at++, shift -= 8) bytes[at] = (bytes[at] as number) ^ (mask >>> shift)
}

function swapped(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}

function wordsOf(bytes: Buffer): Int32Array {
  const { buffer } = bytes
  if (words.buffer === buffer) return words
  const found = otherWords.buffer === buffer ? otherWords : new Int32Array(buffer, 0, buffer.byteLength >> 2)
  otherWords = words
  words = found
  return found
}

/** The mask that stands at `at`. */
export function readMask(bytes: Buffer, at: number): number {
  const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16)
  return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
}

/** Puts a mask to `at`. */
export function writeMask(bytes: Buffer, at: number, mask: number): void {
  bytes[at] = mask >>> 24
  bytes[at + 1] = mask >>> 16
  bytes[at + 2] = mask >>> 8
  bytes[at + 3] = mask
}

/** What carries a stamp: a caller's frame, a model's delta, or the first delta of a turn. */
export const KIND = { callerFrame: 1, delta: 2, firstDelta: 3 } as const

/**
 * Who sent a piece of audio, which one it was, and when.
 *
 * `call` has 24 bits, `sequence` 30 (counted from 0 per call and direction), `kind` 6, `sentUs` 42 (µs on the sender's monotonic clock).
 */
export type Stamp = { call: number; sequence: number; kind: number; sentUs: number }

/** Length of a stamp: 20 base64 characters, that is 15 µ-law samples. */
export const STAMP_CHARS = 20

const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const SIXES = Uint8Array.from({ length: 256 }, (_, char) => {
  const six = ALPHABET.indexOf(char)
  return six < 0 ? 0xff : six
})
const MAGIC_1 = 0x2d
const MAGIC_2 = 0x13
const TWO_24 = 2 ** 24

/** An empty stamp, to be filled by `readStamp`: one object for all frames, because there are thousands a second. */
export function blankStamp(): Stamp {
  return { call: 0, sequence: 0, kind: 0, sentUs: 0 }
}

/**
 * Writes a stamp as base64 characters, six bits each, over audio that is already base64.
 *
 * `at` must lie a multiple of four characters into the audio, so that the stamp is whole bytes of it: then it
 * survives a relay that decodes and encodes again.
 */
export function writeStamp(target: Buffer, at: number, stamp: Stamp): void {
  const high = Math.floor(stamp.sentUs / TWO_24)
  put(target, at, MAGIC_1)
  put(target, at + 1, MAGIC_2)
  put(target, at + 3, stamp.kind)
  put24(target, at + 4, stamp.call)
  put(target, at + 8, stamp.sequence >>> 24)
  put24(target, at + 9, stamp.sequence)
  put(target, at + 13, high >>> 12)
  put(target, at + 14, high >>> 6)
  put(target, at + 15, high)
  put24(target, at + 16, stamp.sentUs % TWO_24)
  put(target, at + 2, checkOf(target, at))
}

/** Reads a stamp into `out`. False when there is none, or when its check does not fit: audio that nobody stamped. */
export function readStamp(source: Buffer, at: number, out: Stamp): boolean {
  if (get(source, at) !== MAGIC_1 || get(source, at + 1) !== MAGIC_2) return false
  if (get(source, at + 2) !== checkOf(source, at)) return false
  out.kind = get(source, at + 3)
  out.call = get24(source, at + 4)
  out.sequence = get(source, at + 8) * TWO_24 + get24(source, at + 9)
  const high = (get(source, at + 13) << 12) | (get(source, at + 14) << 6) | get(source, at + 15)
  out.sentUs = high * TWO_24 + get24(source, at + 16)
  return true
}

/** A rotating sum, so that two characters that changed places are noticed too. */
function checkOf(bytes: Buffer, at: number): number {
  let sum = 0
  for (let i = at + 3; i < at + STAMP_CHARS; i++) sum = (((sum << 1) | (sum >>> 5)) & 63) ^ get(bytes, i)
  return sum
}

function put(target: Buffer, at: number, six: number): void {
  target[at] = ALPHABET[six & 63] as number
}

function put24(target: Buffer, at: number, value: number): void {
  put(target, at, value >>> 18)
  put(target, at + 1, value >>> 12)
  put(target, at + 2, value >>> 6)
  put(target, at + 3, value)
}

function get(source: Buffer, at: number): number {
  return SIXES[source[at] as number] as number
}

function get24(source: Buffer, at: number): number {
  return (get(source, at) << 18) | (get(source, at + 1) << 12) | (get(source, at + 2) << 6) | get(source, at + 3)
}

import { STAMP_CHARS } from './stamp.ts'

/** One caller frame: 20 ms of µ-law. */
export const FRAME_BYTES = 160
/** One model delta: 500 ms of µ-law. */
export const DELTA_BYTES = 4_000
/** Time between two caller frames. */
export const FRAME_MS = 20

const PADDING = 0x3d

/** Repeatable 32-bit random numbers (xorshift); a load must not spend its core on a better source. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 1
  }

  /** The next number, 0 to 2^32 − 1. */
  next(): number {
    let state = this.#state
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    this.#state = state
    return state >>> 0
  }
}

/** Noise as base64, the same at every run; its first 20 characters are to be written over with a stamp. */
export function noiseBase64(bytes: number): Buffer {
  const random = new Random(bytes)
  const audio = Buffer.from(Uint8Array.from({ length: bytes }, () => random.next() >>> 24))
  return Buffer.from(audio.toString('base64'), 'latin1')
}

/** Whether the audio of `bytes[at, end)` is `expected` with another stamp: same length, same bytes behind the stamp. */
export function isSameBehindStamp(expected: Buffer, bytes: Buffer, at: number, end: number): boolean {
  if (end - at !== expected.length) return false
  return bytes.compare(expected, STAMP_CHARS, expected.length, at + STAMP_CHARS, end) === 0
}

/** How many bytes the base64 of `bytes[at, end)` stands for. */
export function base64Bytes(bytes: Buffer, at: number, end: number): number {
  let padding = 0
  while (padding < 2 && bytes[end - 1 - padding] === PADDING) padding += 1
  return Math.floor(((end - at) * 3) / 4) - padding
}

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

/** Masks the bytes from `start` to `end` where they stand, or unmasks them: it is the same. */
export function applyMask(bytes: Buffer, start: number, end: number, mask: number): void {
  const first = mask >>> 24
  const second = (mask >>> 16) & 0xff
  const third = (mask >>> 8) & 0xff
  const fourth = mask & 0xff
  const lastGroup = end - MASK_BYTES
  let at = start
  for (; at <= lastGroup; at += MASK_BYTES) {
    bytes[at] = (bytes[at] as number) ^ first
    bytes[at + 1] = (bytes[at + 1] as number) ^ second
    bytes[at + 2] = (bytes[at + 2] as number) ^ third
    bytes[at + 3] = (bytes[at + 3] as number) ^ fourth
  }
  if (at < end) bytes[at] = (bytes[at] as number) ^ first
  if (at + 1 < end) bytes[at + 1] = (bytes[at + 1] as number) ^ second
  if (at + 2 < end) bytes[at + 2] = (bytes[at + 2] as number) ^ third
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

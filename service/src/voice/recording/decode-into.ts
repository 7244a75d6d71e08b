import { mulawBytes } from '../caller-audio.ts'
import { SIXBITS } from '../sixbits.ts'

/**
 * Writes what a base64 text stands for into a ring, from place `at` on, and allocates nothing.
 *
 * @param ring its length is a power of two, and no less than what is written.
 * @returns how many bytes that were.
 */
export function decodeInto(payload: Buffer, ring: Uint8Array, at: number): number {
  const mask = ring.length - 1
  const end = at + mulawBytes(payload)
  let to = at
  for (let i = 0; to < end; i += 4) {
    const a = SIXBITS[payload[i] as number] as number
    const b = SIXBITS[payload[i + 1] as number] as number
    const c = SIXBITS[payload[i + 2] as number] as number
    const d = SIXBITS[payload[i + 3] as number] as number
    ring[to++ & mask] = (a << 2) | (b >> 4)
    if (to < end) ring[to++ & mask] = (b << 4) | (c >> 2)
    if (to < end) ring[to++ & mask] = (c << 6) | d
  }
  return end - at
}

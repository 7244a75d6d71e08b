import { FRAME_BYTES } from '../audio/mulaw.ts'

const BASE = 0x01000193
// What the byte that leaves the window has been multiplied by since it came in.
const LEAVING = power(BASE, FRAME_BYTES)

/** Hash of the 160 bytes that start at `at`. */
export function frameHash(audio: Uint8Array, at: number): number {
  let hash = 0
  for (let i = at; i < at + FRAME_BYTES; i++) hash = (Math.imul(hash, BASE) + (audio[i] ?? 0) + 1) | 0
  return hash
}

/** The hash of the 160 bytes one byte further on, from the hash of those at `at`. */
export function slideHash(hash: number, audio: Uint8Array, at: number): number {
  const entering = (audio[at + FRAME_BYTES] ?? 0) + 1
  const leaving = (audio[at] ?? 0) + 1
  return (Math.imul(hash, BASE) + entering - Math.imul(leaving, LEAVING)) | 0
}

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}

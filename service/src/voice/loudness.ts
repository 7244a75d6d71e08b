import { mulawBytes } from './caller-audio.ts'
import { SIXBITS } from './sixbits.ts'

/** What is loud or not as a whole: 21 ms of µ-law in base64, so that a frame of 20 ms is looked at in one. */
const PART_CHARS = 224
const PART_BYTES = (PART_CHARS / 4) * 3

/** About −38 dBFS: above the noise of a telephone line, below speech. Mean of the samples' absolute values. */
const LOUD_MEAN = 300

/** Absolute value of each µ-law byte as a 16-bit sample. */
const MAGNITUDE = new Uint16Array(256)
for (let byte = 0; byte < 256; byte++) {
  const bits = ~byte & 0x7f
  MAGNITUDE[byte] = (((bits & 0x0f) * 2 + 33) << (bits >> 4)) * 4 - 132
}

/**
 * How many bytes of base64 µ-law are loud, which comes in frames of any length: those of 20 ms are so as a whole or not at all.
 * Every fourth group of base64 is looked at, which is one sample in four: enough to tell speech from silence, and nothing is
 * allocated.
 */
export function loudBytes(payload: Buffer): number {
  let loud = 0
  let left = mulawBytes(payload)
  for (let from = 0; from < payload.length; from += PART_CHARS) {
    if (isLoud(payload, from, Math.min(from + PART_CHARS, payload.length))) loud += Math.min(PART_BYTES, left)
    left -= PART_BYTES
  }
  return loud
}

function isLoud(payload: Buffer, from: number, until: number): boolean {
  let sum = 0
  let samples = 0
  for (let at = from; at + 3 < until; at += 16) {
    const a = SIXBITS[payload[at] as number] as number
    const b = SIXBITS[payload[at + 1] as number] as number
    const c = SIXBITS[payload[at + 2] as number] as number
    const d = SIXBITS[payload[at + 3] as number] as number
    sum += (MAGNITUDE[(a << 2) | (b >> 4)] as number) + (MAGNITUDE[((b & 15) << 4) | (c >> 2)] as number)
    sum += MAGNITUDE[((c & 3) << 6) | d] as number
    samples += 3
  }
  return samples > 0 && sum / samples > LOUD_MEAN
}

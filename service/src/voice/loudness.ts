import { SIXBITS } from './sixbits.ts'

/** 20 ms of µ-law in base64. */
const FRAME_MS = 20

/** About −38 dBFS: above the noise of a telephone line, below speech. Mean of the samples' absolute values. */
const LOUD_MEAN = 300

/** Absolute value of each µ-law byte as a 16-bit sample. */
const MAGNITUDE = new Uint16Array(256)
for (let byte = 0; byte < 256; byte++) {
  const bits = ~byte & 0x7f
  MAGNITUDE[byte] = (((bits & 0x0f) * 2 + 33) << (bits >> 4)) * 4 - 132
}

/**
 * How many ms of a base64 µ-law frame are loud: 20 or 0. Every fourth group of base64 is looked at, which is one sample in
 * four: enough to tell speech from silence, and nothing is allocated.
 */
export function loudMs(payload: Buffer): number {
  let sum = 0
  let samples = 0
  for (let at = 0; at + 3 < payload.length; at += 16) {
    const a = SIXBITS[payload[at] as number] as number
    const b = SIXBITS[payload[at + 1] as number] as number
    const c = SIXBITS[payload[at + 2] as number] as number
    const d = SIXBITS[payload[at + 3] as number] as number
    sum += (MAGNITUDE[(a << 2) | (b >> 4)] as number) + (MAGNITUDE[((b & 15) << 4) | (c >> 2)] as number)
    sum += MAGNITUDE[((c & 3) << 6) | d] as number
    samples += 3
  }
  return samples > 0 && sum / samples > LOUD_MEAN ? FRAME_MS : 0
}

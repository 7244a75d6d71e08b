import { mulawBytes } from '../caller-audio.ts'
import { SIXBITS } from '../sixbits.ts'

/** Each µ-law byte as a 16-bit sample. */
const LINEAR = new Int16Array(256)
for (let byte = 0; byte < 256; byte++) {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) * 2 + 33) << ((bits >> 4) & 0x07)) * 4 - 132
  LINEAR[byte] = bits & 0x80 ? -magnitude : magnitude
}

/**
 * Reads base64 µ-law from the group at `from` on into `into`, as far as there is room, and says how many samples that are. Nothing is
 * allocated.
 */
export function readSamples(payload: Buffer, into: Int16Array, from: number): number {
  const count = Math.min(mulawBytes(payload) - (from / 4) * 3, into.length)
  for (let at = from, read = 0; read < count; at += 4) {
    const a = SIXBITS[payload[at] as number] as number
    const b = SIXBITS[payload[at + 1] as number] as number
    const c = SIXBITS[payload[at + 2] as number] as number
    const d = SIXBITS[payload[at + 3] as number] as number
    into[read++] = LINEAR[(a << 2) | (b >> 4)] as number
    if (read < count) into[read++] = LINEAR[((b & 15) << 4) | (c >> 2)] as number
    if (read < count) into[read++] = LINEAR[((c & 3) << 6) | d] as number
  }
  return count
}

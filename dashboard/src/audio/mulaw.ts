/** Samples in a second of telephone audio, each of which is a byte of µ-law. */
export const TELEPHONE_RATE_HZ = 8_000
/** The byte of no sound. */
export const SILENT_BYTE = 0xff

/** What a whole sample is in 16 bits. */
const FULL = 32_768
const BIAS = 0x84
const CLIP = 32_635

const DECODED = Float32Array.from({ length: 256 }, (_none, byte) => decoded(byte) / FULL)

/** Samples between -1 and 1 of G.711 µ-law. */
export function fromMulaw(bytes: Uint8Array): Float32Array {
  return Float32Array.from(bytes, (byte) => DECODED[byte] ?? 0)
}

/** G.711 µ-law of samples; what is louder than 1 is cut. */
export function toMulaw(samples: Float32Array): Uint8Array {
  return Uint8Array.from(samples, encoded)
}

function decoded(byte: number): number {
  const inverted = ~byte & 0xff
  const magnitude = (((inverted & 0x0f) << 3) + BIAS) << ((inverted >> 4) & 0x07)
  return inverted & 0x80 ? BIAS - magnitude : magnitude - BIAS
}

function encoded(sample: number): number {
  const level = Math.min(Math.round(Math.abs(sample) * FULL), CLIP) + BIAS
  const exponent = 24 - Math.clz32(level)
  const mantissa = (level >> (exponent + 3)) & 0x0f
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff
}

/** G.711 µ-law of a sample of 16 bits: the sign, the place of the highest bit, and the four bits behind it, all inverted. */
export function mulaw(sample: number): number {
  const biased = Math.min(Math.abs(Math.round(sample)), 32_635) + 132
  const exponent = 24 - Math.clz32(biased)
  const mantissa = (biased >> (exponent + 3)) & 0x0f
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff
}

/** The sample of 16 bits that a byte of G.711 µ-law stands for. */
export function sampleOf(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = (((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 0x07)
  return bits & 0x80 ? 132 - magnitude : magnitude - 132
}

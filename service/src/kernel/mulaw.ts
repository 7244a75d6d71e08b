/** G.711 µ-law of a sample of 16 bits: the sign, the place of the highest bit, and the four bits behind it, all inverted. */
export function mulaw(sample: number): number {
  const biased = Math.min(Math.abs(Math.round(sample)), 32_635) + 132
  const exponent = 24 - Math.clz32(biased)
  const mantissa = (biased >> (exponent + 3)) & 0x0f
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff
}

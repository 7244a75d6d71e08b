/** What the beep is called where other audio has the id of an answer and of an item: no model knows of it. */
export const BEEP_ID = 'recording-beep'

const HZ = 1_000
const MS = 200
const FADE_MS = 10
/** A fifth of full scale: plain, and not startling. */
const PEAK = 6_500
const SAMPLES_PER_MS = 8

/** The tone that tells the caller of the recording, as base64 µ-law. */
export const BEEP = Buffer.from(Buffer.from(Array.from({ length: MS * SAMPLES_PER_MS }, sampleAt)).toString('base64'))

function sampleAt(_: unknown, index: number): number {
  const ms = index / SAMPLES_PER_MS
  const loudness = Math.min(1, ms / FADE_MS, (MS - ms) / FADE_MS)
  return mulaw(PEAK * loudness * Math.sin((2 * Math.PI * HZ * ms) / 1_000))
}

/** G.711: the sign, the place of the highest bit, and the four bits behind it, all inverted. */
function mulaw(sample: number): number {
  const biased = Math.min(Math.abs(Math.round(sample)), 32_635) + 132
  const exponent = 24 - Math.clz32(biased)
  const mantissa = (biased >> (exponent + 3)) & 0x0f
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff
}

/** Samples, and bytes of µ-law, in one second of telephone audio. */
export const SAMPLE_RATE_HZ = 8000
/** Bytes of µ-law in one millisecond. */
export const BYTES_PER_MS = 8
/** Length of one telephone frame. */
export const FRAME_MS = 20
/** Bytes of µ-law in one telephone frame. */
export const FRAME_BYTES = FRAME_MS * BYTES_PER_MS
/** The µ-law byte that means "no sound". */
export const SILENCE = 0xff

const BIAS = 0x84
const CLIP = 32635

const DECODE = new Int16Array(256)
for (let byte = 0; byte < 256; byte++) DECODE[byte] = decodeOne(byte)

// One entry per 16-bit sample: 64 KiB once, and no arithmetic per sample afterwards.
const ENCODE = new Uint8Array(65536)
for (let sample = -32768; sample < 32768; sample++) ENCODE[sample & 0xffff] = encodeOne(sample)

/** Decodes G.711 µ-law into signed 16-bit samples, one for each byte. */
export function decodeMulaw(mulaw: Uint8Array): Int16Array {
  const samples = new Int16Array(mulaw.length)
  for (let i = 0; i < mulaw.length; i++) samples[i] = DECODE[mulaw[i] ?? SILENCE] ?? 0
  return samples
}

/** Encodes signed 16-bit samples into G.711 µ-law, one byte for each. */
export function encodeMulaw(samples: Int16Array): Uint8Array {
  const mulaw = new Uint8Array(samples.length)
  for (let i = 0; i < samples.length; i++) mulaw[i] = ENCODE[(samples[i] ?? 0) & 0xffff] ?? SILENCE
  return mulaw
}

/** µ-law silence of a length in milliseconds, rounded to whole samples. */
export function silence(durationMs: number): Uint8Array {
  return new Uint8Array(Math.round(durationMs * BYTES_PER_MS)).fill(SILENCE)
}

function decodeOne(byte: number): number {
  const inverted = ~byte & 0xff
  const exponent = (inverted >> 4) & 0x07
  const magnitude = (((inverted & 0x0f) << 3) + BIAS) << exponent
  return inverted & 0x80 ? BIAS - magnitude : magnitude - BIAS
}

function encodeOne(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS
  const exponent = 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}

const SEGMENT_MAX = 7

// Sample to byte goes through the 13 bits that A-law keeps: 8 KiB instead of arithmetic per sample.
const ENCODE = new Uint8Array(8192)
for (let value = -4096; value < 4096; value++) ENCODE[value & 0x1fff] = encodeOne(value)
const DECODE = new Int16Array(256)
for (let byte = 0; byte < 256; byte++) DECODE[byte] = decodeOne(byte)

/** Decodes G.711 A-law into signed 16-bit samples, one for each byte. */
export function decodeAlaw(alaw: Uint8Array): Int16Array {
  const samples = new Int16Array(alaw.length)
  for (let i = 0; i < alaw.length; i++) samples[i] = DECODE[alaw[i] ?? 0] ?? 0
  return samples
}

/** Encodes signed 16-bit samples into G.711 A-law, one byte for each. */
export function encodeAlaw(samples: Int16Array): Uint8Array {
  const alaw = new Uint8Array(samples.length)
  for (let i = 0; i < samples.length; i++) alaw[i] = ENCODE[((samples[i] ?? 0) >> 3) & 0x1fff] ?? 0
  return alaw
}

function encodeOne(value: number): number {
  const sign = value < 0 ? 0 : 0x80
  const magnitude = value < 0 ? -value - 1 : value
  const segment = Math.max(0, Math.min(SEGMENT_MAX, 32 - Math.clz32(magnitude >> 5)))
  const mantissa = (segment === 0 ? magnitude >> 1 : magnitude >> segment) & 0x0f
  return (sign | (segment << 4) | mantissa) ^ 0x55
}

function decodeOne(byte: number): number {
  const bits = byte ^ 0x55
  const segment = (bits >> 4) & 0x07
  const base = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? base : (base + 0x100) << (segment - 1)
  return bits & 0x80 ? magnitude : -magnitude
}

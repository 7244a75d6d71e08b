/** Samples of a millisecond. */
const PER_MS = 8
const PIECE = 160

/** The byte of a 16-bit sample in µ-law. */
function mulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(32_635, Math.abs(Math.round(sample))) + 132
  const exponent = Math.max(0, Math.floor(Math.log2(magnitude)) - 7)
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff
}

function samplesOf(ms: number, at: (seconds: number) => number): number[] {
  return Array.from({ length: ms * PER_MS }, (_, i) => at(i / (PER_MS * 1_000)))
}

const wave = (hz: number, seconds: number) => Math.sin(2 * Math.PI * hz * seconds)

/** Sines of these frequencies together. */
export function tones(frequenciesHz: readonly number[], ms: number, amplitude = 8_000): number[] {
  return samplesOf(ms, (s) => frequenciesHz.reduce((sum, hz) => sum + amplitude * wave(hz, s), 0))
}

export function quiet(ms: number): number[] {
  return samplesOf(ms, () => 0)
}

/** Something like a voice: a pitch that moves, its harmonics, and syllables. `only`: how much of it is its first harmonic. */
export function voice(ms: number, { pitchHz = 140, only = 0 } = {}): number[] {
  let phase = 0
  return samplesOf(ms, (s) => {
    const pitch = pitchHz * (1 + 0.12 * wave(1.7, s) + 0.04 * wave(5.3, s))
    phase += (2 * Math.PI * pitch) / (PER_MS * 1_000)
    const syllable = 0.35 + 0.65 * Math.abs(wave(2.1, s))
    const harmonics = [1, 0.8, 0.6, 0.7, 0.4, 0.3, 0.2]
    const sum = harmonics.reduce(
      (all, share, n) => all + (n === 0 ? share : share * (1 - only)) * Math.sin((n + 1) * phase),
      0,
    )
    return 3_000 * syllable * sum
  })
}

/** The same noise each time. */
export function noise(ms: number, amplitude: number): number[] {
  let seed = 1
  return samplesOf(ms, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return amplitude * (seed / 1_073_741_824 - 1)
  })
}

/** Two sounds at once; as long as the first. */
export function mixed(one: readonly number[], other: readonly number[]): number[] {
  return one.map((sample, at) => sample + (other[at] ?? 0))
}

/** As a carrier sends it: base64 µ-law, 20 ms each. */
export function frames(...sounds: readonly number[][]): Buffer[] {
  const bytes = Buffer.from(sounds.flat().map(mulaw))
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(Buffer.from(bytes.subarray(at, at + PIECE).toString('base64')))
  }
  return pieces
}

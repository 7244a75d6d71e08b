import { mulaw } from '../kernel/mulaw.ts'

/** A stretch of one tone or several at once; of none: silence. */
export type Tone = { hz: readonly number[]; ms: number }

const SAMPLES_PER_MS = 8
/** Each begins and ends softly, or it would click. */
const FADE_MS = 10

/** Tones one after the other, as base64 µ-law. @param peak of full scale 32,767. */
export function tones(pieces: readonly Tone[], peak: number): Buffer {
  const samples = pieces.flatMap((piece) =>
    Array.from({ length: piece.ms * SAMPLES_PER_MS }, (_, index) => sampleAt(piece, index / SAMPLES_PER_MS, peak)),
  )
  return Buffer.from(Buffer.from(samples).toString('base64'))
}

function sampleAt({ hz, ms: lengthMs }: Tone, ms: number, peak: number): number {
  const loudness = Math.min(1, ms / FADE_MS, (lengthMs - ms) / FADE_MS)
  const sum = hz.reduce((total, each) => total + Math.sin((2 * Math.PI * each * ms) / 1_000), 0)
  return mulaw(hz.length === 0 ? 0 : (peak * loudness * sum) / hz.length)
}

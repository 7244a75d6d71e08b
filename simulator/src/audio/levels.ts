import { BYTES_PER_MS, decodeMulaw, FRAME_BYTES, FRAME_MS } from './mulaw.ts'

/** Level above which a frame counts as somebody speaking: room noise lies below, the end of a word above. */
export const VOICED_DBFS = -45
/** A pause shorter than this lies inside an utterance (between two sentences), not between two. */
export const UTTERANCE_GAP_MS = 300

const FULL_SCALE = 32768
const STILL_DBFS = -120
// A step between two samples below this is quantisation, whatever stands around it.
const SMALLEST_CLICK = 512

/** A stretch in which somebody spoke, in milliseconds from the start of the audio. */
export type Span = { startMs: number; endMs: number }

/** Root mean square of samples; 0 for none. */
export function rms(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length)
}

/** Level of µ-law audio in dB below full scale; -120 for silence. */
export function levelDbfs(mulaw: Uint8Array): number {
  const level = rms(decodeMulaw(mulaw))
  return level === 0 ? STILL_DBFS : 20 * Math.log10(level / FULL_SCALE)
}

/** Share (0 to 1) of the 20 ms frames in which somebody speaks; 0 for no audio. */
export function voicedShare(mulaw: Uint8Array): number {
  const frames = voicedFrames(mulaw)
  return frames.length === 0 ? 0 : frames.filter(Boolean).length / frames.length
}

/** The utterances in µ-law audio: voiced stretches, joined over pauses shorter than `UTTERANCE_GAP_MS`. */
export function talkSpans(mulaw: Uint8Array): Span[] {
  const spans: Span[] = []
  voicedFrames(mulaw).forEach((voiced, index) => {
    if (!voiced) return
    const startMs = index * FRAME_MS
    const last = spans.at(-1)
    if (last && startMs - last.endMs < UTTERANCE_GAP_MS) last.endMs = startMs + FRAME_MS
    else spans.push({ startMs, endMs: startMs + FRAME_MS })
  })
  return spans
}

/**
 * How much bigger, in dB, the step across a seam is than any step within 5 ms of it.
 * Audio that was cut and joined rightly gives 0 or less; more than 12 is heard as a click.
 * `atSample` is the first sample after the seam. Steps too small to hear give -120.
 */
export function seamStepDb(mulaw: Uint8Array, atSample: number): number {
  const reach = 5 * BYTES_PER_MS
  const from = Math.max(0, atSample - reach)
  const samples = decodeMulaw(mulaw.subarray(from, Math.min(mulaw.length, atSample + reach)))
  const steps = samples.slice(1).map((sample, i) => Math.min(FULL_SCALE - 1, Math.abs(sample - (samples[i] ?? 0))))
  const seam = steps[atSample - from - 1] ?? 0
  if (seam < SMALLEST_CLICK) return STILL_DBFS
  const around = steps.reduce((most, step, i) => (i === atSample - from - 1 ? most : Math.max(most, step)), 1)
  return 20 * Math.log10(seam / around)
}

function voicedFrames(mulaw: Uint8Array): boolean[] {
  const frames: boolean[] = []
  for (let at = 0; at + FRAME_BYTES <= mulaw.length; at += FRAME_BYTES) {
    frames.push(levelDbfs(mulaw.subarray(at, at + FRAME_BYTES)) > VOICED_DBFS)
  }
  return frames
}

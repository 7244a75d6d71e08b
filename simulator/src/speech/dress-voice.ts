import { rms } from '../audio/levels.ts'
import { encodeMulaw, FRAME_BYTES, SAMPLE_RATE_HZ, SILENCE } from '../audio/mulaw.ts'
import { resample } from '../audio/resample.ts'
import type { Pcm } from '../audio/wav.ts'

const TARGET_RMS = 32768 * 10 ** (-18 / 20)
// Peaks above this are bent, not cut: a clipped vowel sounds like a fault of the line.
const KNEE = 24000
const CUTOFF_HZ = 250
const WINDOW_SAMPLES = 80
// The voice's own noise lies below this once the sentence has its level.
const QUIET_RMS = 60
const LEAD_SAMPLES = 160
const FADE_SAMPLES = 80

/**
 * Makes a synthesiser's sentence fit for the telephone: 8 kHz, without rumble below 250 Hz or silence at its ends
 * (20 ms stay), at -18 dBFS, faded at both ends, in whole 20 ms frames of µ-law. A silent input gives no bytes.
 */
export async function dressVoice({ samples, sampleRateHz }: Pcm): Promise<Uint8Array> {
  const filtered = highPass(await resample(samples, sampleRateHz, SAMPLE_RATE_HZ))
  const voiced = trimSilence(level(filtered))
  fadeEnds(voiced)
  const framed = new Uint8Array(Math.ceil(voiced.length / FRAME_BYTES) * FRAME_BYTES).fill(SILENCE)
  framed.set(encodeMulaw(voiced))
  return framed
}

/** A second-order Butterworth high-pass (bilinear transform). */
function highPass(samples: Int16Array): Float64Array {
  const w = Math.tan((Math.PI * CUTOFF_HZ) / SAMPLE_RATE_HZ)
  const norm = 1 / (1 + Math.SQRT2 * w + w * w)
  const a1 = 2 * (w * w - 1) * norm
  const a2 = (1 - Math.SQRT2 * w + w * w) * norm
  const out = new Float64Array(samples.length)
  for (let i = 0; i < samples.length; i++) {
    const input = (samples[i] ?? 0) - 2 * (samples[i - 1] ?? 0) + (samples[i - 2] ?? 0)
    out[i] = norm * input - a1 * (out[i - 1] ?? 0) - a2 * (out[i - 2] ?? 0)
  }
  return out
}

/** Brings the sounding part to the target level: pauses inside a sentence must not make its words louder. */
function level(samples: Float64Array): Int16Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  let sum = 0
  let count = 0
  for (let at = 0; at < samples.length; at += WINDOW_SAMPLES) {
    const window = samples.subarray(at, at + WINDOW_SAMPLES)
    const energy = window.reduce((total, sample) => total + sample * sample, 0)
    if (Math.sqrt(energy / window.length) < loudest / 30) continue
    sum += energy
    count += window.length
  }
  const gain = count === 0 || sum === 0 ? 0 : TARGET_RMS / Math.sqrt(sum / count)
  return Int16Array.from(samples, (sample) => bend(sample * gain))
}

function bend(sample: number): number {
  const size = Math.abs(sample)
  if (size <= KNEE) return sample
  const room = 32700 - KNEE
  return Math.sign(sample) * (KNEE + room * Math.tanh((size - KNEE) / room))
}

function trimSilence(samples: Int16Array): Int16Array {
  let from = 0
  while (from < samples.length && isQuiet(samples, from)) from += WINDOW_SAMPLES
  let to = samples.length
  while (to > from && isQuiet(samples, to - WINDOW_SAMPLES)) to -= WINDOW_SAMPLES
  if (to <= from) return new Int16Array()
  return samples.slice(Math.max(0, from - LEAD_SAMPLES), Math.min(samples.length, to + LEAD_SAMPLES))
}

function isQuiet(samples: Int16Array, at: number): boolean {
  return rms(samples.subarray(Math.max(0, at), at + WINDOW_SAMPLES)) < QUIET_RMS
}

function fadeEnds(samples: Int16Array): void {
  for (let i = 0; i < Math.min(FADE_SAMPLES, samples.length); i++) {
    const share = i / FADE_SAMPLES
    const last = samples.length - 1 - i
    samples[i] = Math.round((samples[i] ?? 0) * share)
    samples[last] = Math.round((samples[last] ?? 0) * share)
  }
}

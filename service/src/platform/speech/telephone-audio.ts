import { othersFirst } from '../../kernel/clock.ts'
import { mulaw, sampleOf } from '../../kernel/mulaw.ts'

/** Of the wide audio: 16-bit samples, little-endian, mono. */
const WIDE_HZ = 24_000
const TELEPHONE_HZ = 8_000
const STEP = WIDE_HZ / TELEPHONE_HZ
const BYTES_PER_SAMPLE = 2

/** The filter lets speech through up to here, and nothing above half of the telephone's rate, which would fold back into it. */
const CUT_HZ = 3_500
/** On each side of a sample. */
const REACH = 48
/** So many samples are made at once: under a millisecond of work. */
const SLICE = 1_000

/** Quieter than this (about −44 dBFS) is the silence before and after words. */
const QUIET = 200
/** So much of it is left, for a word does not begin at its loudest. */
const LEAD_SAMPLES = 20 * (TELEPHONE_HZ / 1_000)
const TAIL_SAMPLES = 120 * (TELEPHONE_HZ / 1_000)
/** Each end is soft, or it would click. */
const FADE_SAMPLES = 5 * (TELEPHONE_HZ / 1_000)

const FILTER = lowPass()

/**
 * PCM of 24 kHz as the telephone has it: µ-law of 8 kHz, the silence around the words cut to a breath; empty when there is nothing
 * but silence. It works in slices, because calls go on beside it.
 */
export async function toTelephone(pcm: Buffer): Promise<Buffer> {
  const wide = samplesOf(pcm)
  const narrow = new Int16Array(Math.floor(wide.length / STEP))
  for (let at = 0; at < narrow.length; at += 1) {
    narrow[at] = filtered(wide, at * STEP)
    if (at % SLICE === SLICE - 1) await othersFirst()
  }
  return softly(trimmed(narrow))
}

/** The same of what is µ-law of 8 kHz already. */
export function trimmedTelephone(telephone: Buffer): Buffer {
  return softly(trimmed(Int16Array.from(telephone, sampleOf)))
}

function softly(spoken: Int16Array): Buffer {
  return Buffer.from(spoken.map((sample, at) => sample * loudness(at, spoken.length)).map(mulaw))
}

/** Copied, because a view of numbers has to begin at an even place. Every machine that Node runs on writes them like this. */
function samplesOf(pcm: Buffer): Int16Array {
  const wholeBytes = pcm.length - (pcm.length % BYTES_PER_SAMPLE)
  return new Int16Array(new Uint8Array(pcm.subarray(0, wholeBytes)).buffer)
}

function filtered(wide: Int16Array, middle: number): number {
  let sum = 0
  for (let tap = -REACH; tap <= REACH; tap += 1) sum += (wide[middle + tap] ?? 0) * (FILTER[tap + REACH] ?? 0)
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)))
}

/** A windowed sinc (Hamming), which leaves the loudness as it is. */
function lowPass(): Float64Array {
  const taps = Float64Array.from({ length: 2 * REACH + 1 }, (_, index) => {
    const x = 2 * Math.PI * (CUT_HZ / WIDE_HZ) * (index - REACH)
    const window = 0.54 - 0.46 * Math.cos((Math.PI * index) / REACH)
    return (x === 0 ? 1 : Math.sin(x) / x) * window
  })
  const sum = taps.reduce((total, tap) => total + tap, 0)
  return taps.map((tap) => tap / sum)
}

function trimmed(samples: Int16Array): Int16Array {
  const isLoud = (sample: number) => Math.abs(sample) > QUIET
  const first = samples.findIndex(isLoud)
  if (first === -1) return samples.subarray(0, 0)
  return samples.subarray(Math.max(0, first - LEAD_SAMPLES), samples.findLastIndex(isLoud) + 1 + TAIL_SAMPLES)
}

function loudness(at: number, length: number): number {
  return Math.min(1, at / FADE_SAMPLES, (length - 1 - at) / FADE_SAMPLES)
}

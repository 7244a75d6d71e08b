import { othersFirst } from '../../kernel/clock.ts'
import { mulaw, sampleOf } from '../../kernel/mulaw.ts'

/** Of what speech models answer with, unless they say another one: 16-bit samples, little-endian, mono. */
export const SPOKEN_HZ = 24_000
/** One byte each. */
export const TELEPHONE_HZ = 8_000
export const BYTES_PER_SAMPLE = 2

/** The filter lets speech through up to here, and nothing above half of the telephone's rate, which would fold back into it. */
const CUT_HZ = 3_500
/** How far it reaches on each side of a sample, for each step from one of the telephone's samples to the next. */
const REACH_PER_STEP = 16
/** So many samples are made at once: under a millisecond of work. */
const SLICE = 1_000

/** Quieter than this (about −44 dBFS) is the silence before and after words. */
const QUIET = 200
/** So much of it is left, for a word does not begin at its loudest. */
const LEAD_SAMPLES = 20 * (TELEPHONE_HZ / 1_000)
const TAIL_SAMPLES = 120 * (TELEPHONE_HZ / 1_000)
/** Each end is soft, or it would click. */
const FADE_SAMPLES = 5 * (TELEPHONE_HZ / 1_000)

/**
 * PCM of any rate from 8 kHz on as the telephone has it: µ-law of 8 kHz, the silence around the words cut to a breath; empty when
 * there is nothing but silence. It works in slices, because calls go on beside it.
 */
export function toTelephone(pcm: Buffer, hz = SPOKEN_HZ): Promise<Buffer> {
  return wordsOf(samplesOf(pcm), hz)
}

/** The same of samples. */
export async function wordsOf(samples: Int16Array, hz: number): Promise<Buffer> {
  return softEnds(trimmed(await atTelephoneRate(samples, hz)))
}

/** Samples as the telephone has them, silence and all. */
export async function toMulaw(samples: Int16Array, hz: number): Promise<Buffer> {
  return softEnds(await atTelephoneRate(samples, hz))
}

async function atTelephoneRate(samples: Int16Array, hz: number): Promise<Int16Array> {
  return hz === TELEPHONE_HZ ? samples : narrowed(samples, hz)
}

function softEnds(samples: Int16Array): Buffer {
  return Buffer.from(samples.map((sample, at) => sample * loudness(at, samples.length)).map(mulaw))
}

/** Between two samples of the wide audio the narrow one is what lies on the line from one to the other. */
async function narrowed(wide: Int16Array, hz: number): Promise<Int16Array> {
  const filter = lowPass(hz)
  const step = hz / TELEPHONE_HZ
  const narrow = new Int16Array(Math.floor(wide.length / step))
  for (let at = 0; at < narrow.length; at += 1) {
    const before = Math.floor(at * step)
    const share = at * step - before
    const sum = filtered(wide, before, filter) * (1 - share)
    narrow[at] = clamped(share === 0 ? sum : sum + filtered(wide, before + 1, filter) * share)
    if (at % SLICE === SLICE - 1) await othersFirst()
  }
  return narrow
}

/** The spoken part, with soft ends, of what is µ-law of 8 kHz already. */
export function trimmedTelephone(telephone: Buffer): Buffer {
  return softEnds(trimmed(Int16Array.from(telephone, sampleOf)))
}

/** Copied, because a view of numbers has to begin at an even place. Every machine that Node runs on writes them like this. */
function samplesOf(pcm: Buffer): Int16Array {
  const wholeBytes = pcm.length - (pcm.length % BYTES_PER_SAMPLE)
  return new Int16Array(new Uint8Array(pcm.subarray(0, wholeBytes)).buffer)
}

function filtered(wide: Int16Array, middle: number, filter: Float64Array): number {
  const reach = (filter.length - 1) / 2
  let sum = 0
  for (let tap = -reach; tap <= reach; tap += 1) sum += (wide[middle + tap] ?? 0) * (filter[tap + reach] ?? 0)
  return sum
}

function clamped(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample)))
}

/** A windowed sinc (Hamming), which leaves the loudness as it is. */
function lowPass(hz: number): Float64Array {
  const reach = Math.ceil((REACH_PER_STEP * hz) / TELEPHONE_HZ)
  const taps = Float64Array.from({ length: 2 * reach + 1 }, (_, index) => {
    const x = 2 * Math.PI * (CUT_HZ / hz) * (index - reach)
    const window = 0.54 - 0.46 * Math.cos((Math.PI * index) / reach)
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

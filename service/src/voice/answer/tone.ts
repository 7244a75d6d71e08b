/** Samples of a second. */
const RATE = 8_000
/** How much of a frame's energy one frequency has to have. A vowel's strongest part has less, and so has each of a key's two. */
const PURE_SHARE = 0.85
/** Below this a hum or a low voice may look like one; above it there is little on a telephone. */
const LOWEST_HZ = 350
const HIGHEST_HZ = 3_200

/** The mean of the samples' absolute values: how loud they are. */
export function levelOf(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += Math.abs(sample)
  return samples.length === 0 ? 0 : sum / samples.length
}

/**
 * The frequency of a frame that is one steady tone, in Hz; null of one that is not.
 *
 * Of a tone each sample follows from the two before it by its frequency alone, which gives the frequency; Goertzel's filter then
 * tells what share of the energy is there.
 */
export function toneIn(samples: Int16Array): number | null {
  const hz = frequencyOf(samples)
  if (hz === null || hz < LOWEST_HZ || hz > HIGHEST_HZ) return null
  return shareAt(samples, hz) >= PURE_SHARE ? hz : null
}

function frequencyOf(samples: Int16Array): number | null {
  let crossed = 0
  let squared = 0
  for (let at = 1; at + 1 < samples.length; at += 1) {
    const here = samples[at] as number
    crossed += here * ((samples[at - 1] as number) + (samples[at + 1] as number))
    squared += here * here
  }
  if (squared === 0) return null
  const cosine = crossed / (2 * squared)
  return Math.abs(cosine) < 1 ? (Math.acos(cosine) * RATE) / (2 * Math.PI) : null
}

/** Goertzel: how much of the energy one frequency has, from 0 to 1. */
function shareAt(samples: Int16Array, hz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / RATE)
  let energy = 0
  let last = 0
  let before = 0
  for (const sample of samples) {
    energy += sample * sample
    const next = sample + factor * last - before
    before = last
    last = next
  }
  const power = last * last + before * before - factor * last * before
  return energy === 0 ? 0 : Math.min(1, (2 * power) / (samples.length * energy))
}

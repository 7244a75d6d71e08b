/** How many waves of the filter there are on each side: 3.4 kHz of a voice pass, what would come back as noise does not. */
const WAVES = 16
/** Where the filter begins to close, of the highest tone that both rates can hold. */
const PASSES = 0.92

/**
 * Changes the rate of a stream of samples, and keeps at its seams what the next block needs. What comes out is late by the half
 * of the filter, 2 ms at a telephone's rate.
 */
export class Resampler {
  /** Of each output sample's place between two input samples, the weights of those around it. */
  readonly #phases: Float32Array[]
  /** How far the input goes on with each output sample, in parts of which `#phases.length` are one input sample. */
  readonly #step: number
  readonly #taps: number
  #held: Float32Array
  /** The place of the next output sample, in those parts, from the beginning of what is held. */
  #at = 0

  /** @throws RangeError for a rate that is no whole number above 0. */
  constructor(fromHz: number, toHz: number) {
    for (const rate of [fromHz, toHz]) if (!Number.isInteger(rate) || rate < 1) throw new RangeError(`bad rate ${rate}`)
    const common = greatestCommonDivisor(fromHz, toHz)
    const count = toHz / common
    this.#step = fromHz / common
    const cutoff = PASSES * Math.min(1, toHz / fromHz)
    const half = Math.ceil(WAVES * Math.max(1, fromHz / toHz))
    this.#taps = 2 * half
    this.#phases = Array.from({ length: count }, (_none, phase) => weightsAt(phase / count, half, cutoff))
    this.#held = new Float32Array(half - 1)
  }

  push(samples: Float32Array): Float32Array {
    const input = new Float32Array(this.#held.length + samples.length)
    input.set(this.#held)
    input.set(samples, this.#held.length)
    const count = this.#phases.length
    const last = (input.length - this.#taps) * count
    const made = new Float32Array(Math.max(0, Math.floor((last - this.#at) / this.#step) + 1))
    for (let index = 0; index < made.length; index += 1) {
      const first = Math.floor(this.#at / count)
      made[index] = weighed(input, first, this.#phases[this.#at % count] ?? NOTHING)
      this.#at += this.#step
    }
    const used = Math.min(Math.floor(this.#at / count), input.length)
    this.#held = input.slice(used)
    this.#at -= used * count
    return made
  }
}

const NOTHING = new Float32Array()

function weighed(input: Float32Array, first: number, weights: Float32Array): number {
  let sum = 0
  for (let tap = 0; tap < weights.length; tap += 1) sum += (input[first + tap] ?? 0) * (weights[tap] ?? 0)
  return sum
}

/** A windowed sinc, `after` behind the middle; together the weights are 1, so that a level stays what it is. */
function weightsAt(after: number, half: number, cutoff: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_none, tap) => {
    const distance = tap - (half - 1) - after
    return sinc(distance * cutoff) * blackman(distance / half)
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function blackman(x: number): number {
  return Math.abs(x) >= 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x)
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

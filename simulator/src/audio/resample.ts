import loadSpeex from '@echogarden/speex-resampler-wasm/simd'

type Speex = Awaited<ReturnType<typeof loadSpeex>>

// Speex's scale is 0 to 10; 7 keeps 3.4 kHz of speech and leaves nothing audible above 4 kHz.
const QUALITY = 7
const BLOCK_SAMPLES = 8192

let speex: Promise<Speex> | undefined

/** A resampler that keeps its filter's state between blocks of one stream. */
export type Resampler = {
  /** Resamples the next block; what the filter still holds comes out with later blocks. */
  push(samples: Int16Array): Int16Array
  /** Gives what the filter still holds and frees its memory. Call it once, last. */
  finish(): Int16Array
}

/**
 * Makes a stateful resampler with a linear-phase filter against aliasing; its output starts without delay.
 * @throws RangeError when a rate is not between 1 and 384,000 Hz.
 */
export async function makeResampler(fromHz: number, toHz: number): Promise<Resampler> {
  for (const rateHz of [fromHz, toHz]) {
    if (!Number.isInteger(rateHz) || rateHz < 1 || rateHz > 384_000) throw new RangeError(`bad sample rate ${rateHz}`)
  }
  speex ??= loadSpeex()
  return new SpeexStream(await speex, fromHz, toHz)
}

/** Resamples a whole piece of audio; the result is as long as the original, to the sample. */
export async function resample(samples: Int16Array, fromHz: number, toHz: number): Promise<Int16Array> {
  if (fromHz === toHz) return samples
  const resampler = await makeResampler(fromHz, toHz)
  const head = resampler.push(samples)
  const tail = resampler.finish()
  const whole = new Int16Array(Math.round((samples.length * toHz) / fromHz))
  whole.set(head.subarray(0, whole.length))
  whole.set(tail.subarray(0, whole.length - Math.min(head.length, whole.length)), Math.min(head.length, whole.length))
  return whole
}

class SpeexStream implements Resampler {
  #speex: Speex
  #state: number
  #input: number
  #output: number
  #lengths: number
  #outputRoom: number

  constructor(speex: Speex, fromHz: number, toHz: number) {
    this.#speex = speex
    this.#outputRoom = Math.ceil((BLOCK_SAMPLES * toHz) / fromHz) + 64
    this.#input = speex._malloc(BLOCK_SAMPLES * 2)
    this.#output = speex._malloc(this.#outputRoom * 2)
    this.#lengths = speex._malloc(8)
    this.#state = speex._speex_resampler_init(1, fromHz, toHz, QUALITY, this.#lengths)
    speex._speex_resampler_skip_zeros(this.#state)
  }

  push(samples: Int16Array): Int16Array {
    const parts: Int16Array[] = []
    for (let at = 0; at < samples.length; ) {
      const [used, part] = this.#process(samples.subarray(at, at + BLOCK_SAMPLES))
      parts.push(part)
      at += used
    }
    return joinSamples(parts)
  }

  finish(): Int16Array {
    const latency = this.#speex._speex_resampler_get_output_latency(this.#state)
    // Silence pushes out the rest; twice the latency covers both halves of the filter at any ratio of rates.
    const rest = this.push(new Int16Array(Math.min(BLOCK_SAMPLES, 4 * latency + 64)))
    this.#speex._speex_resampler_destroy(this.#state)
    for (const pointer of [this.#input, this.#output, this.#lengths]) this.#speex._free(pointer)
    return rest
  }

  #process(block: Int16Array): [number, Int16Array] {
    // The views are read anew each time: they are replaced whenever the module's memory grows.
    const { HEAP16, HEAPU32 } = this.#speex
    HEAP16.set(block, this.#input >> 1)
    HEAPU32[this.#lengths >> 2] = block.length
    HEAPU32[(this.#lengths >> 2) + 1] = this.#outputRoom
    const failed = this.#speex._speex_resampler_process_int(
      this.#state,
      0,
      this.#input,
      this.#lengths,
      this.#output,
      this.#lengths + 4,
    )
    const used = HEAPU32[this.#lengths >> 2] ?? 0
    const made = HEAPU32[(this.#lengths >> 2) + 1] ?? 0
    if (failed !== 0 || used === 0) throw new Error(`the resampler failed with code ${failed}`)
    return [used, HEAP16.slice(this.#output >> 1, (this.#output >> 1) + made)]
  }
}

function joinSamples(parts: Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

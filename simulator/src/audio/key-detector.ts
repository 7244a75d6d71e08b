import { decodeMulaw, SAMPLE_RATE_HZ } from './mulaw.ts'
import { COLUMNS_HZ, keyAt, ROWS_HZ } from './tone.ts'

// A frame of a key is nothing but its two tones; of speech, two frequencies never hold so much.
const LEAST_SHARE = 0.8
// Each tone alone must be well above a whisper.
const LEAST_TONE_ENERGY = 200 * 200

/** Hears telephone keys in audio, frame by frame. A key counts once, however long it is held. */
export class KeyDetector {
  #last: string | null = null
  #reported = false

  /** Takes 20 ms of µ-law; gives the key when it is heard for the second frame in a row. */
  hear(frame: Uint8Array): string | null {
    const key = keyIn(decodeMulaw(frame))
    if (key !== this.#last) {
      this.#last = key
      this.#reported = false
      return null
    }
    if (key === null || this.#reported) return null
    this.#reported = true
    return key
  }
}

function keyIn(samples: Int16Array): string | null {
  const total = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
  if (total < 2 * LEAST_TONE_ENERGY) return null
  const row = strongest(samples, ROWS_HZ)
  const column = strongest(samples, COLUMNS_HZ)
  const isPair = Math.min(row.energy, column.energy) > LEAST_TONE_ENERGY
  return isPair && row.energy + column.energy > LEAST_SHARE * total ? keyAt(row.index, column.index) : null
}

function strongest(samples: Int16Array, frequenciesHz: number[]): { index: number; energy: number } {
  return frequenciesHz
    .map((hz, index) => ({ index, energy: energyAt(samples, hz) }))
    .reduce((best, tone) => (tone.energy > best.energy ? tone : best))
}

/** Mean energy of one frequency in the samples (Goertzel's algorithm). */
function energyAt(samples: Int16Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / SAMPLE_RATE_HZ)
  let previous = 0
  let beforeThat = 0
  for (const sample of samples) {
    const current = sample + coefficient * previous - beforeThat
    beforeThat = previous
    previous = current
  }
  const power = previous * previous + beforeThat * beforeThat - coefficient * previous * beforeThat
  return (2 * power) / (samples.length * samples.length)
}

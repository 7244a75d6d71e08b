import { encodeMulaw, SAMPLE_RATE_HZ, silence } from './mulaw.ts'

/** The frequencies of the rows of a telephone's keys, from the top. */
export const ROWS_HZ = [697, 770, 852, 941]
/** The frequencies of the columns, from the left. */
export const COLUMNS_HZ = [1209, 1336, 1477, 1633]
const KEYS = '123A456B789C*0#D'
const DIGIT_MS = 120
const DIGIT_GAP_MS = 80
// A ramp this long keeps a tone from clicking at its ends.
const RAMP_SAMPLES = 40

/** µ-law of summed sines with a 5 ms ramp at both ends; `amplitude` is the peak of each sine, of 32,767. */
export function tone(frequenciesHz: number[], durationMs: number, amplitude: number): Uint8Array {
  const length = Math.round((durationMs * SAMPLE_RATE_HZ) / 1000)
  const samples = new Int16Array(length)
  for (let i = 0; i < length; i++) {
    const ramp = Math.min(1, (i + 1) / RAMP_SAMPLES, (length - i) / RAMP_SAMPLES)
    const sum = frequenciesHz.reduce((total, hz) => total + Math.sin((2 * Math.PI * hz * i) / SAMPLE_RATE_HZ), 0)
    samples[i] = Math.max(-32768, Math.min(32767, Math.round(sum * amplitude * ramp)))
  }
  return encodeMulaw(samples)
}

/** The two frequencies, in Hz, of a telephone key; null for a character that is no key. */
export function keyFrequenciesHz(key: string): [number, number] | null {
  const index = key.length === 1 ? KEYS.indexOf(key.toUpperCase()) : -1
  const row = ROWS_HZ[index >> 2]
  const column = COLUMNS_HZ[index & 3]
  return index < 0 || row === undefined || column === undefined ? null : [row, column]
}

/** The key in a row and a column, both from 0; null outside. */
export function keyAt(row: number, column: number): string | null {
  return KEYS[row * COLUMNS_HZ.length + column] ?? null
}

/** The sound of keys pressed one after the other; `w` waits half a second, `W` a whole one; anything else is skipped. */
export function keyTones(keys: string): Uint8Array {
  const parts = [...keys].map((key) => {
    if (key === 'w') return silence(500)
    if (key === 'W') return silence(1000)
    const frequenciesHz = keyFrequenciesHz(key)
    return frequenciesHz
      ? Buffer.concat([tone(frequenciesHz, DIGIT_MS, 6000), silence(DIGIT_GAP_MS)])
      : new Uint8Array()
  })
  return new Uint8Array(Buffer.concat(parts))
}

import { rms } from '../../../simulator/src/audio/levels.ts'
import { decodeMulaw } from '../../../simulator/src/audio/mulaw.ts'

const BIN_MS = 5
const BIN_BYTES = BIN_MS * 8

/**
 * By how many ms `later` lags behind `earlier`, both µ-law at 8 kHz: where their loudness fits best, to 5 ms. Negative when it
 * is ahead; at most `mostMs` either way. `likeness` is 1 for the same loudness all along.
 */
export function lagBetween(earlier: Uint8Array, later: Uint8Array, mostMs = 2_000): { ms: number; likeness: number } {
  const [a, b] = [loudness(earlier), loudness(later)]
  const length = Math.sqrt(product(a, a, 0) * product(b, b, 0))
  let best = { ms: 0, likeness: Number.NEGATIVE_INFINITY }
  for (let bins = -mostMs / BIN_MS; bins <= mostMs / BIN_MS; bins += 1) {
    const likeness = product(a, b, bins) / length
    if (likeness > best.likeness) best = { ms: bins * BIN_MS, likeness }
  }
  return best
}

function loudness(mulaw: Uint8Array): Float64Array {
  const samples = decodeMulaw(mulaw)
  return Float64Array.from({ length: Math.floor(mulaw.length / BIN_BYTES) }, (_, bin) =>
    rms(samples.subarray(bin * BIN_BYTES, (bin + 1) * BIN_BYTES)),
  )
}

function product(a: Float64Array, b: Float64Array, shift: number): number {
  let sum = 0
  for (let at = Math.max(0, -shift); at < a.length && at + shift < b.length; at += 1)
    sum += (a[at] ?? 0) * (b[at + shift] ?? 0)
  return sum
}

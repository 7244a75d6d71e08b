import { describe, expect, it } from 'vitest'
import { encodeMulaw, silence } from './mulaw.ts'
import { repeatedSpans } from './repeats.ts'
import { tone } from './tone.ts'

/** Noise, which is never twice the same; another for each seed. */
function noise(durationMs: number, seed: number): Uint8Array {
  let state = seed
  return encodeMulaw(
    Int16Array.from({ length: durationMs * 8 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) | 0
      return (state >> 16) / 2
    }),
  )
}
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
const [before, piece, after] = [noise(400, 1), noise(200, 2), noise(400, 3)]

describe('repeatedSpans', () => {
  it('finds nothing in audio that goes on, in silence and in a tone', () => {
    for (const audio of [
      join(before, piece, after),
      silence(2_000),
      tone([440, 620], 2_000, 8_000),
      new Uint8Array(),
    ]) {
      expect(repeatedSpans(audio)).toEqual([])
    }
  })

  it('finds a piece that was sent twice, as far as frames tell', () => {
    expect(repeatedSpans(join(before, piece, piece, after))).toEqual([{ startMs: 600, endMs: 800 }])
  })

  it.each([3, 77, 159])('finds one that does not begin with a frame (%i samples later)', (samples) => {
    const [span, ...others] = repeatedSpans(join(silence(20).subarray(0, samples), before, piece, piece, after))
    expect(others).toEqual([])
    expect(span?.startMs).toBeGreaterThanOrEqual(600)
    expect(span?.endMs).toBeGreaterThan(740)
  })

  it('finds two of them, each for itself', () => {
    const twice = join(before, piece, piece, after, noise(100, 4), noise(100, 4))
    expect(repeatedSpans(twice)).toHaveLength(2)
  })

  it('finds the last 500 ms said again, and nothing in what is said again later', () => {
    const words = noise(500, 5)
    expect(repeatedSpans(join(words, words))).toEqual([{ startMs: 500, endMs: 1_000 }])
    expect(repeatedSpans(join(words, noise(20, 6), words))).toEqual([])
  })
})

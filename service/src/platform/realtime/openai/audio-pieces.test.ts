import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base64End, decodedBytes } from '../../json-bytes.ts'
import { pieceChars } from './audio-pieces.ts'

function pieces(audio: Uint8Array): Buffer[] {
  const payload = Buffer.from(Buffer.from(audio).toString('base64'))
  const chars = pieceChars(payload)
  return Array.from({ length: Math.ceil(payload.length / chars) }, (_, i) =>
    payload.subarray(i * chars, (i + 1) * chars),
  )
}

describe('pieceChars', () => {
  it.each([
    [1, 1],
    [4_000, 1],
    [4_001, 2],
    [12_000, 4],
  ])('parts %i bytes into %i', (bytes, count) => {
    expect(pieces(new Uint8Array(bytes))).toHaveLength(count)
  })

  it('gives pieces of at most 500 ms that are base64 of their own and together the whole', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20_000, size: 'max' }), (audio) => {
        const parts = pieces(audio)
        for (const part of parts) {
          expect(decodedBytes(part)).toBeLessThanOrEqual(4_000)
          expect(base64End(part, 0)).toBe(part.length)
        }
        const decoded = parts.map((part) => Buffer.from(part.toString('latin1'), 'base64'))
        expect(Buffer.concat(decoded).equals(audio)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

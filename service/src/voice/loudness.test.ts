import { describe, expect, it } from 'vitest'
import { loudBytes } from './loudness.ts'

/** The value of a µ-law byte as the standard has it. */
function decoded(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 0x07)) - 0x84
  return bits & 0x80 ? -magnitude : magnitude
}

function frameOf(byte: number): Buffer {
  return Buffer.from(Buffer.alloc(160, byte).toString('base64'))
}

describe('Loudness', () => {
  it('takes a frame for loud when its samples are above the noise of a line, for each of the 256 values', () => {
    for (let byte = 0; byte < 256; byte++) {
      expect(loudBytes(frameOf(byte))).toBe(Math.abs(decoded(byte)) > 300 ? 160 : 0)
    }
  })

  it('is none where there are no samples', () => {
    expect(loudBytes(Buffer.alloc(0))).toBe(0)
  })

  it('hears a voice that is half a frame long', () => {
    const bytes = Buffer.alloc(160, 0xff)
    bytes.fill(0x20, 80)
    expect(loudBytes(Buffer.from(bytes.toString('base64')))).toBe(160)
  })

  it.each([1, 80, 161, 800, 1_600, 4_001])(
    'is that of all of a frame of %i bytes, or of the loud part of it',
    (size) => {
      const bytes = Buffer.alloc(size, 0x20)
      expect(loudBytes(Buffer.from(bytes.toString('base64')))).toBe(size)
      const half = Buffer.concat([bytes, Buffer.alloc(size, 0xff)])
      expect(Math.abs(loudBytes(Buffer.from(half.toString('base64'))) - size)).toBeLessThan(168)
    },
  )
})

import * as oracle from 'alawmulaw'
import { describe, expect, it } from 'vitest'
import { decodeAlaw, encodeAlaw } from './alaw.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const everySample = Int16Array.from({ length: 65536 }, (_, i) => i - 32768)

describe('A-law', () => {
  it('decodes every byte like an independent codec', () => {
    expect(decodeAlaw(everyByte)).toEqual(oracle.alaw.decode(everyByte))
  })

  it('gives back every byte that it decoded', () => {
    expect(encodeAlaw(decodeAlaw(everyByte))).toEqual(everyByte)
  })

  it('encodes every sample to a step that is no further off than the next one', () => {
    const ours = decodeAlaw(encodeAlaw(everySample))
    const worst = everySample.reduce(
      (most, sample, i) => Math.max(most, Math.abs(sample - (ours[i] ?? 0)) / (Math.abs(sample) + 256)),
      0,
    )
    expect(worst).toBeLessThan(1 / 16)
  })
})

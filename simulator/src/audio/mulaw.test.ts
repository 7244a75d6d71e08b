import { createHash } from 'node:crypto'
import * as oracle from 'alawmulaw'
import { describe, expect, it } from 'vitest'
import { decodeMulaw, encodeMulaw, silence } from './mulaw.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const everySample = Int16Array.from({ length: 65536 }, (_, i) => i - 32768)

describe('µ-law', () => {
  it.each([
    [0x00, -32124],
    [0x01, -31100],
    [0x0f, -16764],
    [0x10, -15996],
    [0x55, -716],
    [0x7f, 0],
    [0x80, 32124],
    [0xd5, 716],
    [0xf0, 120],
    [0xfe, 8],
    [0xff, 0],
  ])('decodes byte %i to %i', (byte, sample) => {
    expect(decodeMulaw(Uint8Array.of(byte))[0]).toBe(sample)
  })

  it.each([
    [0, 0xff],
    [100, 0xf2],
    [-100, 0x72],
    [1000, 0xce],
    [-1000, 0x4e],
    [32767, 0x80],
    [-32768, 0x00],
  ])('encodes sample %i to byte %i', (sample, byte) => {
    expect(encodeMulaw(Int16Array.of(sample))[0]).toBe(byte)
  })

  it('decodes the whole table to the published digest', () => {
    const digest = createHash('sha256')
      .update(new Uint8Array(decodeMulaw(everyByte).buffer))
      .digest('hex')
    expect(digest).toBe('3dab54339e520bb2c924826e3b72a917a2b612e9fd12fc867500f1d983a75827')
  })

  it('gives back every byte that it decoded, but for the second zero', () => {
    const expected = Uint8Array.from(everyByte, (byte) => (byte === 0x7f ? 0xff : byte))
    expect(encodeMulaw(decodeMulaw(everyByte))).toEqual(expected)
  })

  it('agrees with an independent codec on every byte and on every sample', () => {
    expect(decodeMulaw(everyByte)).toEqual(oracle.mulaw.decode(everyByte))
    expect(encodeMulaw(everySample)).toEqual(oracle.mulaw.encode(everySample))
  })

  it('makes silence of a length that decodes to nothing', () => {
    expect(decodeMulaw(silence(20))).toEqual(new Int16Array(160))
  })
})

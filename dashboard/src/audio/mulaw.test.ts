import { describe, expect, it } from 'vitest'
import { fromMulaw, SILENT_BYTE, toMulaw } from './mulaw.ts'

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_none, byte) => byte)

describe('µ-law', () => {
  it('keeps every level that it has', () => {
    // There are two zeros, and one is written.
    expect(toMulaw(fromMulaw(EVERY_BYTE))).toEqual(EVERY_BYTE.map((byte) => (byte === 0x7f ? SILENT_BYTE : byte)))
  })

  it('has the levels of G.711', () => {
    expect([...fromMulaw(Uint8Array.of(0x00, 0x80, SILENT_BYTE))].map((level) => level * 32_768)).toEqual([
      -32_124, 32_124, 0,
    ])
  })

  it('cuts what is too loud, and does not turn it over', () => {
    expect([...toMulaw(Float32Array.of(5, -5))]).toEqual([0x80, 0x00])
  })
})

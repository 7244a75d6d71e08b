import { describe, expect, it } from 'vitest'
import { toTelephone, trimmedTelephone } from './telephone-audio.ts'

const WIDE_HZ = 24_000

/** PCM of 24 kHz: silence, a tone, silence. */
function toneBetween(hz: number, { quietMs = 0, ms = 500, peak = 10_000 } = {}): Buffer {
  const samples = Array.from({ length: ((2 * quietMs + ms) * WIDE_HZ) / 1_000 }, (_, at) => {
    const isTone = at >= (quietMs * WIDE_HZ) / 1_000 && at < ((quietMs + ms) * WIDE_HZ) / 1_000
    return isTone ? Math.round(peak * Math.sin((2 * Math.PI * hz * at) / WIDE_HZ)) : 0
  })
  return Buffer.from(new Int16Array(samples).buffer)
}

/** G.711 µ-law as samples of 16 bits. */
function decoded(audio: Buffer): number[] {
  return [...audio].map((byte) => {
    const bits = ~byte & 0xff
    const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 7)) - 132
    return bits & 0x80 ? -magnitude : magnitude
  })
}

/** The loudest sample in the middle of it. */
function peakOf(audio: Buffer): number {
  return Math.max(...decoded(audio.subarray(audio.length / 4, audio.length / 2)).map(Math.abs))
}

describe('toTelephone', () => {
  it('keeps what a telephone carries as loud as it was', async () => {
    for (const hz of [300, 1_000, 3_000]) {
      const peak = peakOf(await toTelephone(toneBetween(hz)))
      expect(peak).toBeGreaterThan(9_000)
      expect(peak).toBeLessThan(11_000)
    }
  })

  it('lets nothing through that would fold back into speech', async () => {
    for (const hz of [4_500, 6_000, 10_000]) expect(peakOf(await toTelephone(toneBetween(hz)))).toBeLessThan(150)
  })

  it('begins where the words do, and ends softly soon after them', async () => {
    const audio = await toTelephone(toneBetween(1_000, { quietMs: 800 }))
    expect(audio.length / 8).toBeGreaterThan(500)
    expect(audio.length / 8).toBeLessThan(500 + 20 + 120 + 10)
    const samples = decoded(audio)
    expect([Math.abs(samples[0] ?? 1), Math.abs(samples.at(-1) ?? 1)]).toEqual([0, 0])
  })

  it('is nothing for silence, and for nothing', async () => {
    expect((await toTelephone(Buffer.alloc(48_000))).length).toBe(0)
    expect((await toTelephone(Buffer.alloc(1))).length).toBe(0)
  })
})

describe('trimmedTelephone', () => {
  it('takes the silence from around what is telephone audio already, and changes nothing else of it', () => {
    const tone = Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at % 8 < 4 ? 0x10 : 0x90)))
    const silence = Buffer.alloc(8_000, 0xff)
    const spoken = trimmedTelephone(Buffer.concat([silence, tone, silence]))
    // 20 ms of it are left before the words, 120 ms behind them.
    expect(spoken.length).toBe(4_000 + 160 + 960)
    expect(
      spoken
        .subarray(200, 4_000)
        .equals(Buffer.concat([silence, tone]).subarray(8_000 - 160 + 200, 8_000 - 160 + 4_000)),
    ).toBe(true)
    expect(trimmedTelephone(silence)).toHaveLength(0)
  })
})

import { describe, expect, it } from 'vitest'
import { mulaw } from '../../kernel/mulaw.ts'
import { toMulaw } from './telephone-audio.ts'
import { wavFile } from './wav.fixture.ts'
import { readWav, WavFault } from './wav.ts'

const ANY = { minMs: 0, maxMs: 60_000 }

const tone = (hz: number, ms: number) =>
  Array.from({ length: (hz * ms) / 1_000 }, (_, at) => Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / hz)))

/** How often the sound crosses zero upwards in a second. */
function pitchOf(audio: Buffer): number {
  const signs = [...audio].map((byte) => (byte & 0x80) !== 0)
  const rises = signs.filter((isUp, at) => isUp && signs[at - 1] === false).length
  return (rises * 8_000) / audio.length
}

describe('a WAV file', () => {
  it.each([8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000])(
    'of %i Hz sounds the same on the telephone',
    async (hz) => {
      const { samples, hz: read } = await readWav(wavFile({ hz, samples: tone(hz, 1_000) }), ANY)
      const audio = await toMulaw(samples, read)
      expect(Math.abs(audio.length - 8_000)).toBeLessThanOrEqual(1)
      expect(Math.abs(pitchOf(audio) - 440)).toBeLessThan(5)
    },
  )

  it('may have two channels, eight bits, or µ-law in it', async () => {
    const stereo = await readWav(wavFile({ hz: 8_000, channels: 2, samples: [100, 300, -100, -300] }), ANY)
    expect([...stereo.samples]).toEqual([200, -200])
    const eight = await readWav(wavFile({ hz: 8_000, bits: 8, bytes: Buffer.from([128, 255, 0]) }), ANY)
    expect([...eight.samples]).toEqual([0, 32_512, -32_768])
    const bytes = Buffer.from([1_000, -1_000, 20_000].map(mulaw))
    const { samples } = await readWav(wavFile({ hz: 8_000, coding: 7, bits: 8, bytes }), ANY)
    expect([...samples].map(mulaw)).toEqual([...bytes])
  })

  it('is refused in words that say what it is', async () => {
    const manyChunks = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(8_000)])
    const files = [
      Buffer.from('<html>not here</html>'),
      wavFile({ hz: 8_000, samples: [1] }).subarray(0, 36),
      wavFile({ hz: 8_000, coding: 3, bits: 8, bytes: Buffer.alloc(4) }),
      wavFile({ hz: 8_000, channels: 6, samples: [1, 2, 3, 4, 5, 6] }),
      wavFile({ hz: 4_000, samples: [1] }),
      wavFile({ hz: 8_000, samples: tone(8_000, 61_000) }),
      manyChunks,
    ]
    const reasons = await Promise.all(files.map(reasonOf))
    expect(reasons).toEqual([
      'is no WAV file',
      'is a WAV file without sound',
      'holds neither PCM of 8 or 16 bits nor µ-law',
      'has neither one channel nor two',
      'is not of 8 to 48 kHz',
      'is not of 0 to 60 s',
      'is a WAV file without sound',
    ])
  })

  it('whose lengths are not true ends where it does', async () => {
    const file = wavFile({ hz: 8_000, samples: [1, 2, 3] })
    for (const told of [1_000_000, 0, 0xffff_ffff]) {
      file.writeUInt32LE(told, 40)
      expect((await readWav(file, ANY)).samples).toHaveLength(3)
    }
    for (let bytes = 0; bytes < file.length; bytes += 1) await reasonOf(file.subarray(0, bytes))
  })
})

/** Nothing but a fault of the file may come; null without one. */
async function reasonOf(file: Buffer): Promise<string | null> {
  try {
    await readWav(file, ANY)
    return null
  } catch (error) {
    if (error instanceof WavFault) return error.message
    throw error
  }
}

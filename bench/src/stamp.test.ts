import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noiseBase64 } from './audio.ts'
import { blankStamp, KIND, readStamp, STAMP_CHARS, writeStamp } from './stamp.ts'

const stamps = fc.record({
  call: fc.nat(2 ** 24 - 1),
  sequence: fc.nat(2 ** 30 - 1),
  kind: fc.constantFrom(...Object.values(KIND)),
  sentUs: fc.maxSafeNat().map((value) => value % 2 ** 42),
})

describe('a stamp', () => {
  it('survives a relay that decodes the audio and encodes it again', () => {
    fc.assert(
      fc.property(stamps, (stamp) => {
        const audio = noiseBase64(160)
        writeStamp(audio, 0, stamp)
        const again = Buffer.from(Buffer.from(audio.toString(), 'base64').toString('base64'))
        const read = blankStamp()
        expect(readStamp(again, 0, read)).toBe(true)
        expect(read).toEqual(stamp)
      }),
    )
  })

  it('is not seen in audio that carries none', () => {
    expect(readStamp(noiseBase64(160), 0, blankStamp())).toBe(false)
    expect(readStamp(Buffer.from(Buffer.alloc(160, 0xff).toString('base64')), 0, blankStamp())).toBe(false)
  })

  it('is not believed after any of its characters changed', () => {
    const audio = noiseBase64(160)
    writeStamp(audio, 0, { call: 7, sequence: 8, kind: KIND.delta, sentUs: 9 })
    for (let at = 0; at < STAMP_CHARS; at++) {
      const changed = Buffer.from(audio)
      changed[at] = changed[at] === 0x41 ? 0x42 : 0x41
      expect(readStamp(changed, 0, blankStamp())).toBe(false)
    }
  })
})

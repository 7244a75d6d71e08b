import { describe, expect, it } from 'vitest'
import { decodeMulaw, silence } from './mulaw.ts'
import { tone } from './tone.ts'
import { readWav, stereoWav, wavToMulaw } from './wav.ts'

describe('stereoWav', () => {
  it('writes the left channel first and fills the shorter one with silence', () => {
    const left = tone([400], 40, 8000)
    const file = Buffer.from(stereoWav(left, silence(20)))
    expect(file.length).toBe(44 + 320 * 4)
    expect(file.readUInt16LE(22)).toBe(2)
    expect(file.readUInt32LE(24)).toBe(8000)
    expect(readWav(file).samples).toEqual(decodeMulaw(left))
    expect(file.readInt16LE(46 + 300 * 4)).toBe(0)
  })
})

describe('wavToMulaw', () => {
  it('gives back the µ-law that a file was made of', async () => {
    const left = tone([400], 40, 8000)
    expect(await wavToMulaw(stereoWav(left, left))).toEqual(left)
  })

  it('refuses what is no WAV file, and an encoding it does not read', async () => {
    await expect(wavToMulaw(Buffer.from('ID3 not a wav file'))).rejects.toThrow('not a WAV file')
    const mp3 = Buffer.from(stereoWav(silence(20), silence(20)))
    mp3.writeUInt16LE(0x55, 20)
    await expect(wavToMulaw(mp3)).rejects.toThrow('encoding 85')
  })
})

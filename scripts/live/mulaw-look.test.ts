import { afterAll, describe, expect, it } from 'vitest'
import { decodeMulaw } from '../../simulator/src/audio/mulaw.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../simulator/src/speech/speech.ts'
import { lookOfMulaw } from './mulaw-look.ts'

const speech = makeSpeech({ phraseBook: makePhraseBook() })
afterAll(() => speech.close())

const SENTENCES = [
  'This is Parley speaking.',
  'Good morning, how can I help you?',
  'Yes.',
  'Six times seven is forty-two!',
]

describe('lookOfMulaw', () => {
  it.each(SENTENCES)(
    'takes "%s" for speech in µ-law, and for another format when it is 16-bit samples',
    async (text) => {
      const mulaw = Buffer.from(await speech.say(text))
      expect(lookOfMulaw(mulaw)).toBe('speech')
      const samples = decodeMulaw(mulaw)
      expect(lookOfMulaw(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength))).toBe('another format')
    },
  )

  it('takes digital and faint silence for silence', () => {
    expect(lookOfMulaw(Buffer.alloc(8_000, 0xff))).toBe('silence')
    expect(lookOfMulaw(Buffer.from(Array.from({ length: 8_000 }, (_, i) => (i % 2 ? 0xfe : 0x7c))))).toBe('silence')
  })
})

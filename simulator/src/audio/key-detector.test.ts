import { afterAll, describe, expect, it } from 'vitest'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech } from '../speech/speech.ts'
import { KeyDetector } from './key-detector.ts'
import { FRAME_BYTES } from './mulaw.ts'
import { keyTones, tone } from './tone.ts'

const speech = makeSpeech({ phraseBook: makePhraseBook() })
afterAll(() => speech.close())

function keysIn(audio: Uint8Array, from = 0): string {
  const detector = new KeyDetector()
  let keys = ''
  for (let at = from; at + FRAME_BYTES <= audio.length; at += FRAME_BYTES) {
    keys += detector.hear(audio.subarray(at, at + FRAME_BYTES)) ?? ''
  }
  return keys
}

describe('KeyDetector', () => {
  it('hears each key once, wherever the frames begin', () => {
    const keys = '1234567890*#ABCD11'
    expect(keysIn(keyTones(keys))).toBe(keys)
    expect(keysIn(keyTones(keys), 77)).toBe(keys)
  })

  it('hears no key in speech, in single tones and in a ring-back tone', async () => {
    const texts = ['One two three four five six seven eight nine zero.', 'Seas, bees and easy cheese.']
    for (const text of texts)
      for (const voice of ['slt', 'rms'] as const) expect(keysIn(await speech.say(text, voice))).toBe('')
    expect(keysIn(tone([697], 500, 8000)) + keysIn(tone([1336], 500, 8000)) + keysIn(tone([440, 480], 500, 8000))).toBe(
      '',
    )
  })
})

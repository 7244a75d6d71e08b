import { afterAll, describe, expect, it } from 'vitest'
import { levelDbfs, voicedShare } from '../audio/levels.ts'
import { FRAME_BYTES, silence } from '../audio/mulaw.ts'
import { makePhraseBook } from './phrase-book.ts'
import { splitSentences } from './sentences.ts'
import { makeSpeech } from './speech.ts'

const phraseBook = makePhraseBook()
const speech = makeSpeech({ phraseBook })
afterAll(() => speech.close())

const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

describe('speech', () => {
  it('speaks at once, at -18 dBFS, in whole frames', async () => {
    const audio = await speech.say('I would like to book a table for two.')
    expect(audio.length % FRAME_BYTES).toBe(0)
    expect(audio.length).toBeGreaterThan(8000)
    expect(voicedShare(audio.subarray(0, 480))).toBeGreaterThan(0)
    expect(voicedShare(audio)).toBeGreaterThan(0.7)
    expect(Math.abs(levelDbfs(audio) + 18)).toBeLessThan(2)
  })

  it('gives the same bytes for the same text, and others for another voice', async () => {
    const [once, again, other] = await Promise.all([
      speech.say('Good morning.'),
      speech.say('Good  morning.'),
      speech.say('Good morning.', 'rms'),
    ])
    expect(again).toEqual(once)
    expect(other).not.toEqual(once)
  })

  it('says nothing for nothing', async () => {
    expect(await speech.say('  ')).toEqual(new Uint8Array())
  })

  it('rejects what waits when it is closed, and what is asked afterwards', async () => {
    const other = makeSpeech({ phraseBook: makePhraseBook() })
    const waiting = other.say('This sentence is never heard.')
    await Promise.all([expect(waiting).rejects.toThrow('closed'), other.close()])
    await expect(other.say('Nor is this one.')).rejects.toThrow('closed')
    await other.close()
  })
})

describe('splitSentences', () => {
  it('parts sentences, makes spaces single, and cuts what is too long between words', () => {
    expect(splitSentences(' One.  Two,\nthree?  ')).toEqual(['One.', 'Two, three?'])
    const parts = splitSentences('word '.repeat(150))
    expect(parts.every((part) => part.length <= 300)).toBe(true)
    expect(parts.join(' ')).toBe('word '.repeat(150).trim())
  })
})

describe('the phrase book', () => {
  it('gives back the words of a turn, whatever silence stands around and however it is aligned', async () => {
    const text = 'I need an appointment. Tuesday afternoon would be best.'
    const audio = await speech.say(text)
    expect(phraseBook.recognise(join(silence(313.125), audio, silence(77)))).toEqual({ text })
    expect(phraseBook.recognise(audio)).toEqual({ text })
  })

  it('tells apart sentences that begin alike', async () => {
    const texts = ['My number is four five six.', 'My number is four five seven.']
    const [first, second] = await Promise.all(texts.map((text) => speech.say(text)))
    expect(phraseBook.recognise(first ?? silence(0))?.text).toBe(texts[0])
    expect(phraseBook.recognise(second ?? silence(0))?.text).toBe(texts[1])
  })

  it('hears a phrase twice when it is said twice', async () => {
    const audio = await speech.say('Hello?')
    expect(phraseBook.recognise(join(audio, silence(400), audio))).toEqual({ text: 'Hello? Hello?' })
  })

  it('hears only the words that were there when a phrase was cut', async () => {
    const text = 'We are open from nine in the morning until six in the evening.'
    const audio = await speech.say(text)
    const heard = phraseBook.recognise(audio.subarray(0, audio.length / 2))?.text ?? ''
    expect(text.startsWith(heard)).toBe(true)
    expect(heard.length / text.length).toBeGreaterThan(0.3)
    expect(heard.length / text.length).toBeLessThan(0.7)
  })

  it('still hears the whole when a few frames were lost on the way', async () => {
    const text = 'Please send the invoice to my office.'
    const audio = await speech.say(text)
    expect(phraseBook.recognise(join(audio.subarray(0, 4000), audio.subarray(4800)))).toEqual({ text })
  })

  it('knows nothing in silence, in noise and in nothing', () => {
    const noise = Uint8Array.from({ length: 16_000 }, (_, i) => (i * 7919 + (i >> 3) * 31) & 0xff)
    for (const audio of [silence(2000), noise, new Uint8Array()]) expect(phraseBook.recognise(audio)).toBeNull()
  })
})

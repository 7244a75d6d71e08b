import { silence } from '../audio/mulaw.ts'
import type { PhraseBook } from './phrase-book.ts'
import { splitSentences } from './sentences.ts'
import { VoiceThread } from './voice-thread.ts'

// A breath between two sentences; shorter than what counts as the end of an utterance.
const SENTENCE_PAUSE_MS = 240
// Some 50 MB. The sentence that was used longest ago goes first.
const MAX_CACHED_SENTENCES = 2000

/** A voice: `slt` is a woman's (the default), `rms` a man's. */
export type Voice = 'slt' | 'rms'

/** Turns text into telephone audio. */
export type Speech = {
  /**
   * µ-law 8 kHz of the text in whole 20 ms frames, sentences 240 ms apart; empty when there is nothing to say.
   * The same text and voice give the same bytes. Throws when the voice fails or is closed.
   */
  say(text: string, voice?: Voice): Promise<Uint8Array>
  /** Ends the voice's thread; what waits for it is rejected. Safe to call twice. */
  close(): Promise<void>
}

/** Makes a voice. Each sentence is made once, kept, and learnt by the phrase book. */
export function makeSpeech({ phraseBook }: { phraseBook: PhraseBook }): Speech {
  return new CachedSpeech(phraseBook)
}

class CachedSpeech implements Speech {
  #phraseBook: PhraseBook
  #thread = new VoiceThread()
  #sentences = new Map<string, Promise<Uint8Array>>()

  constructor(phraseBook: PhraseBook) {
    this.#phraseBook = phraseBook
  }

  async say(text: string, voice: Voice = 'slt'): Promise<Uint8Array> {
    const sentences = await Promise.all(splitSentences(text).map((sentence) => this.#sentence(sentence, voice)))
    const sounding = sentences.filter((mulaw) => mulaw.length > 0)
    const pause = silence(SENTENCE_PAUSE_MS)
    return new Uint8Array(Buffer.concat(sounding.flatMap((mulaw, i) => (i === 0 ? [mulaw] : [pause, mulaw]))))
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #sentence(sentence: string, voice: Voice): Promise<Uint8Array> {
    const key = `${voice} ${sentence}`
    const made = this.#sentences.get(key) ?? this.#make(key, sentence, voice)
    // Set again, so that the map's order is the order of last use.
    this.#sentences.delete(key)
    this.#sentences.set(key, made)
    const oldest = this.#sentences.keys().next()
    if (this.#sentences.size > MAX_CACHED_SENTENCES && !oldest.done) this.#sentences.delete(oldest.value)
    return made
  }

  async #make(key: string, sentence: string, voice: Voice): Promise<Uint8Array> {
    try {
      const mulaw = await this.#thread.speak(sentence, voice)
      this.#phraseBook.learn(sentence, mulaw)
      return mulaw
    } catch (error) {
      this.#sentences.delete(key)
      throw error
    }
  }
}

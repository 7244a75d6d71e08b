import { levelDbfs } from '../audio/levels.ts'
import { FRAME_BYTES } from '../audio/mulaw.ts'
import { frameHash, slideHash } from './frame-hash.ts'
import { type Occurrence, occurrences, type Phrase, type PhraseHit } from './phrase-occurrences.ts'

// About 50 MB of speech. The oldest phrase goes first: a call recognises what was said a moment ago.
const MAX_PHRASES = 2000
// Frames quieter than this are alike in many phrases and would be found everywhere.
const DISTINCT_DBFS = -54

/** Recognises, byte for byte, audio that was synthesised in this process; it does not understand speech. */
export type PhraseBook = {
  /** Remembers that this µ-law audio says this text. The same text and audio again changes nothing. */
  learn(text: string, mulaw: Uint8Array): void
  /**
   * The words of known phrases found in a stretch of audio (a whole turn, at any alignment), in the order heard.
   * A phrase of which only a part is there gives that part's words. Null when nothing known is in it.
   */
  recognise(mulaw: Uint8Array): { text: string } | null
}

type Place = { phrase: Phrase; offset: number }

/** Makes an empty phrase book; it holds the latest 2,000 phrases. */
export function makePhraseBook(): PhraseBook {
  return new HashedPhraseBook()
}

class HashedPhraseBook implements PhraseBook {
  #phrases = new Set<Phrase>()
  #places = new Map<number, Place[]>()

  learn(text: string, mulaw: Uint8Array): void {
    const frameOffsets = distinctFrames(mulaw)
    const first = frameOffsets[0]
    if (first === undefined || this.#knows(text, mulaw, first)) return
    const phrase: Phrase = { text, audio: mulaw.slice(), frameOffsets }
    this.#phrases.add(phrase)
    for (const offset of frameOffsets) this.#remember(frameHash(mulaw, offset), { phrase, offset })
    for (const oldest of this.#phrases) {
      if (this.#phrases.size <= MAX_PHRASES) break
      this.#forget(oldest)
    }
  }

  recognise(mulaw: Uint8Array): { text: string } | null {
    const words = occurrences(this.#hits(mulaw))
      .map(heardWords)
      .filter((text) => text !== '')
    return words.length === 0 ? null : { text: words.join(' ') }
  }

  #hits(mulaw: Uint8Array): PhraseHit[] {
    const hits: PhraseHit[] = []
    const end = mulaw.length - FRAME_BYTES
    let hash = end < 0 ? 0 : frameHash(mulaw, 0)
    for (let at = 0; at <= end; ) {
      const found = this.#placesOf(hash, mulaw, at)
      for (const { phrase, offset } of found) hits.push({ phrase, offset, at })
      if (found.length === 0) {
        hash = slideHash(hash, mulaw, at)
        at++
      } else {
        // The frame was compared byte for byte, so the next of this phrase can only start right after it.
        at += FRAME_BYTES
        if (at <= end) hash = frameHash(mulaw, at)
      }
    }
    return hits
  }

  #placesOf(hash: number, mulaw: Uint8Array, at: number): Place[] {
    const places = this.#places.get(hash)
    if (!places) return []
    const frame = Buffer.from(mulaw.buffer, mulaw.byteOffset + at, FRAME_BYTES)
    return places.filter(({ phrase, offset }) => frame.equals(phrase.audio.subarray(offset, offset + FRAME_BYTES)))
  }

  #knows(text: string, mulaw: Uint8Array, offset: number): boolean {
    return this.#placesOf(frameHash(mulaw, offset), mulaw, offset).some(
      ({ phrase }) => phrase.text === text && Buffer.from(phrase.audio).equals(mulaw),
    )
  }

  #remember(hash: number, place: Place): void {
    const places = this.#places.get(hash)
    if (places) places.push(place)
    else this.#places.set(hash, [place])
  }

  #forget(phrase: Phrase): void {
    this.#phrases.delete(phrase)
    for (const offset of phrase.frameOffsets) {
      const hash = frameHash(phrase.audio, offset)
      const others = (this.#places.get(hash) ?? []).filter((place) => place.phrase !== phrase)
      if (others.length === 0) this.#places.delete(hash)
      else this.#places.set(hash, others)
    }
  }
}

function distinctFrames(mulaw: Uint8Array): number[] {
  const offsets: number[] = []
  for (let at = 0; at + FRAME_BYTES <= mulaw.length; at += FRAME_BYTES) {
    if (levelDbfs(mulaw.subarray(at, at + FRAME_BYTES)) > DISTINCT_DBFS) offsets.push(at)
  }
  return offsets
}

/** A phrase's words are taken to be spread over its sounding frames by their letters; a word counts from its middle. */
function heardWords({ phrase, firstOffset, lastOffset }: Occurrence): string {
  const total = phrase.frameOffsets.length
  const from = phrase.frameOffsets.indexOf(firstOffset) / total
  const to = (phrase.frameOffsets.indexOf(lastOffset) + 1) / total
  const words = [...phrase.text.matchAll(/\S+/g)]
  return words
    .filter((word) => {
      const middle = (word.index + word[0].length / 2) / phrase.text.length
      return middle >= from && middle <= to
    })
    .map((word) => word[0])
    .join(' ')
}

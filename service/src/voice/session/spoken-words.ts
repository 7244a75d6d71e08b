import type { Voiced } from './transcript.ts'
import { wordEnd } from './word-ends.ts'

/** Of audio of which is not told what it says: about a usual pace. */
const MS_PER_LETTER = 80

/** Where in a text ends what the first `ms` of its audio say: never inside a word, for a word that was cut off was not heard. */
export function spokenUntil(whole: string, { endsMs }: Voiced, ms: number): number {
  return wordsEnd(whole, endsMs.length === 0 ? Math.floor(ms / MS_PER_LETTER) : lettersWithin(endsMs, ms))
}

/** Where in a text ends what has become sound of it, of which `sentMs` are there. */
export function soundedUntil(whole: string, voiced: Voiced, sentMs: number): number {
  return spokenUntil(whole, voiced, voiced.endsMs.length === 0 ? sentMs : Number.POSITIVE_INFINITY)
}

/** What `text` adds to the times of letters, of which white space is none. */
export function letterEnds(text: string, endsMs: readonly number[]): number[] {
  return [...text].flatMap((char, at) => (/\s/u.test(char) ? [] : [endsMs[at] ?? 0]))
}

function lettersWithin(endsMs: readonly number[], ms: number): number {
  const next = endsMs.findIndex((endMs) => endMs > ms)
  return next === -1 ? endsMs.length : next
}

function wordsEnd(text: string, letters: number): number {
  let left = letters
  let at = 0
  for (const char of text) {
    if (left === 0) return wordEnd(text, at)
    if (!/\s/u.test(char)) left -= 1
    at += char.length
  }
  return text.length
}

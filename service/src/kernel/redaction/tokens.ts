import { type NumberWord, numberWord } from './number-words.ts'

/**
 * A run of letters and digits. `number`: digits alone, here as ASCII; `mixed`: both, such as `AB12`. Letters that have no capitals, as
 * those of Chinese, Korean and Arabic, are no part of codes: they stand beside a number without a blank, and make runs of their own.
 */
export type Token = { start: number; end: number; text: string } & (
  | { type: 'number'; digits: string }
  | { type: 'spoken'; word: NumberWord }
  | { type: 'word' | 'mixed' }
)

const TOKENS = /[\p{Lu}\p{Ll}\p{Lt}\p{M}\p{Nd}]+|[\p{Lo}\p{Lm}\p{M}]+/gu
const DIGITS_ALONE = /^\p{Nd}+$/u
const ANY_DIGIT = /\p{Nd}/u

/** The code points of the zeros of scripts whose digits are dictated to machines: ASCII, Arabic, Persian, Devanagari, Bengali, full width. */
const ZEROS = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xff10]

/** The tokens of a text, in one pass. */
export function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(TOKENS), (match) => tokenOf(match[0], match.index))
}

function tokenOf(text: string, start: number): Token {
  const at = { start, end: start + text.length, text }
  if (DIGITS_ALONE.test(text)) return { ...at, type: 'number', digits: Array.from(text, asciiDigit).join('') }
  if (ANY_DIGIT.test(text)) return { ...at, type: 'mixed' }
  const word = numberWord(text.toLowerCase().normalize('NFC'))
  return word ? { ...at, type: 'spoken', word } : { ...at, type: 'word' }
}

function asciiDigit(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const zero = ZEROS.find((each) => code >= each && code <= each + 9)
  // A digit of a script that is not listed counts as one, whichever it is.
  return String(code - (zero ?? code))
}

import { WITHOUT_BLANKS } from '../../kernel/writing.ts'

/**
 * Where the last word ends that is over at `at`: never inside a word, for a word that was cut off was not heard. A word is what
 * stands between white space; where there is none between words, what a dictionary takes for one. Marks make no sound: those
 * behind a word that was heard are heard with it. Not for each frame: it reads what stands without blanks around `at`.
 */
export function wordEnd(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length || isBlank(text.charAt(at))) return Math.min(at, text.length)
  let from = at
  while (from > 0 && !isBlank(text.charAt(from - 1))) from -= 1
  const [run = ''] = /^\S+/u.exec(text.slice(from)) ?? []
  return WITHOUT_BLANKS.test(run) ? from + endWithin(run, at - from) : from
}

/** A text that was parted at the end of a word as it was: with a blank where its writing has any. */
export function joined(first: string, rest: string): string {
  if (first === '' || rest === '') return first + rest
  const [before = ''] = [...first.slice(-2)].slice(-1)
  const [behind = ''] = rest
  return WITHOUT_BLANKS.test(before + behind) ? first + rest : `${first} ${rest}`
}

/** A text without its white space: what stays the same of it however it is parted and joined. */
export function letters(text: string): string {
  return text.replaceAll(/\s+/gu, '')
}

function endWithin(run: string, at: number): number {
  const part = new Intl.Segmenter('und', { granularity: 'word' }).segment(run).containing(at)
  if (!part) return at
  return part.isWordLike ? part.index : part.index + part.segment.length
}

function isBlank(char: string): boolean {
  return /\s/u.test(char)
}

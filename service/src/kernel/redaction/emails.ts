import type { Span } from './spans.ts'
import type { Token } from './tokens.ts'

const MAX_LOCAL_CHARS = 64
const MAX_DOMAIN_CHARS = 253
const LOCAL_CHAR = /[\p{L}\p{M}\p{Nd}._%+'-]/u
const DOMAIN_CHAR = /[\p{L}\p{M}\p{Nd}.-]/u
/**
 * Domains end in these, in lower case, where blanks stand beside the dot ("gmail . com"). Any other word there begins a sentence, and
 * so may those that are words of the languages that are spoken here ("in", "it", "at").
 */
const KNOWN_ENDS = 'com|org|net|edu|gov|info|biz|eu|de|fr|es|nl|uk|us|ch|co|io|be|ca|au'
const KNOWN_END = new RegExp(`^(?:${KNOWN_ENDS})$`)
const PARTED_ENDS = new RegExp(`^(?: ?\\. ?(?:${KNOWN_ENDS})(?![\\p{L}\\p{Nd}])){1,3}`, 'u')
/** Longer than that has no end. */
const PARTED_CHARS = 24
/** A dot that parts two pieces of an address, not two sentences. */
const PARTED_DOT = /^(?: \.| ?\. )$/
const PARTED_NAME = /[\p{L}\p{M}\p{Nd}]{1,32} \. $/u
const PARTED_NAME_CHARS = 36
const MAX_PARTED_NAMES = 4
/** With a blank beside the sign it may be a price: "2 kilos @ 3.50". */
const ENDS_IN_LETTERS = /\.\p{L}[^.]*$/u

/** The e-mail addresses of a text, written or spelled out ("ana dot diaz at example dot org"). */
export function emailSpans(text: string, tokens: readonly Token[]): Span[] {
  const written = writtenSpans(narrow(text))
  return [...written, ...besides(written, latest(spelledSpans(text, tokens)))]
}

/** With the signs of addresses as they are elsewhere, each in its place, where they are as wide as the letters of Chinese and Japanese. */
function narrow(text: string): string {
  return text.replaceAll('＠', '@').replaceAll('．', '.')
}

/** Of those that overlap the last one: in "me at ana dot diaz at example dot org" what looks like a domain is a name. */
function latest(spans: readonly Span[]): Span[] {
  const kept: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if ((kept.at(-1)?.end ?? 0) > span.start) kept.pop()
    kept.push(span)
  }
  return kept
}

/** Those that overlap none of `written`; both in order. In "me at ana.diaz@example.org" nothing is spelled. */
function besides(written: readonly Span[], spans: readonly Span[]): Span[] {
  let at = 0
  return spans.filter(({ start, end }) => {
    while ((written[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1
    return (written[at]?.start ?? Number.POSITIVE_INFINITY) >= end
  })
}

function writtenSpans(text: string): Span[] {
  const spans: Span[] = []
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const before = text.charAt(at - 1) === ' ' ? at - 1 : at
    const behind = text.charAt(at + 1) === ' ' ? at + 1 : at
    const start = withParted(text, reach(text, before, { step: -1, chars: LOCAL_CHAR, most: MAX_LOCAL_CHARS }))
    const domain = domainAt(text, behind)
    const isClose = before === at && behind === at
    const isDomain = isClose ? domain.includes('.') : ENDS_IN_LETTERS.test(domain.replaceAll(' ', ''))
    if (start < before && isDomain) spans.push({ start, end: behind + 1 + domain.length, kind: 'email' })
  }
  return spans
}

/** The domain behind an index, without the dot of a sentence that ends with it. */
function domainAt(text: string, behind: number): string {
  const end = reach(text, behind, { step: 1, chars: DOMAIN_CHAR, most: MAX_DOMAIN_CHARS })
  const name = text.slice(behind + 1, end).replace(/[.-]+$/, '')
  const nameEnd = behind + 1 + name.length
  const [parted = ''] = (name !== '' && PARTED_ENDS.exec(text.slice(nameEnd, nameEnd + PARTED_CHARS))) || []
  return name + parted
}

/** Where a name begins of which this is the last piece: "ana . diaz". */
function withParted(text: string, start: number): number {
  let at = start
  for (let pieces = 0; pieces < MAX_PARTED_NAMES; pieces += 1) {
    const piece = PARTED_NAME.exec(text.slice(Math.max(0, at - PARTED_NAME_CHARS), at))
    if (!piece) break
    at -= piece[0].length
  }
  return at
}

/** Letters that have no capitals stand beside an address without a blank, and are no part of one that is written in others. */
const CASELESS = /[\p{Lo}\p{Lm}]/u

/** How far the characters go from `at` into one direction: an index to cut at. */
function reach(text: string, at: number, { step, chars, most }: { step: 1 | -1; chars: RegExp; most: number }): number {
  let cursor = at + step
  // Without a dot it is no domain yet.
  let isCaseless = step === 1 || CASELESS.test(text.charAt(cursor))
  for (; Math.abs(cursor - at) <= most && chars.test(text.charAt(cursor)); cursor += step) {
    const char = text.charAt(cursor)
    if (char === '.') isCaseless = CASELESS.test(text.charAt(cursor + step))
    else if (!isCaseless && CASELESS.test(char)) break
  }
  return step === 1 ? cursor : cursor + 1
}

const AT = new Set(['at', 'ät', 'arobase', 'arroba', 'apenstaartje', 'klammeraffe', 'aapje'])
const DOT = new Set(['dot', 'punkt', 'point', 'punto', 'punt'])
/** "At the dot" is a place. */
const ARTICLES = new Set(['the', 'a', 'der', 'die', 'dem', 'le', 'la', 'el', 'de', 'het'])
const JOINTS = new Set([
  ...DOT,
  ...['dash', 'hyphen', 'minus', 'underscore', 'strich', 'bindestrich', 'unterstrich', 'tiret', 'guion', 'guión'],
  ...['streepje', 'plus'],
])
const NUMBER_KINDS = new Set(['digit', 'pair', 'tens', 'hundred'])
const TOP_LEVEL_CHARS = { min: 2, max: 6 }
/** More words of a spelled name are not looked for. */
const MAX_NAME_TOKENS = 40
const MAX_DOMAIN_TOKENS = 12
/** Between the words of a spelled address stand blanks and commas at most. */
const MAX_GAP_CHARS = 3
/** What of a name may be written though the rest of the address is spelled: "ana.diaz at gmail.com". */
const WRITTEN_JOINT = /^(?:[._%+'-]| \. )$/
/** What people do at an address of the internet, and whom they tell to. Whatever could be the name of a mailbox ("booking", "work") is one. */
const NO_NAMES = new Set(
  (
    'look looked looking looks booked buying bought ordered ordering find found finding see saw seen checked checking visited ' +
    'visiting searched searching shopped paid registered logged signed applied stayed worked started it me us them him you there ' +
    'here available up in out is are was were that this ' +
    'schau schauen geschaut gebucht bestellt gekauft gefunden mich uns es hier dort ' +
    'reservé réservé acheté commandé trouvé regardez ici moi reservado comprado encontrado aquí ' +
    'geboekt besteld gekocht gevonden kijk hier'
  ).split(' '),
)

function spelledSpans(text: string, tokens: readonly Token[]): Span[] {
  const words: Words = { text, tokens }
  return tokens.flatMap((token, at) => {
    if (!AT.has(wordOf(token))) return []
    const last = domainEnd(words, at)
    const first = last > at ? nameStart(words, at) : at
    if (first === at - 1 && isNoName(tokens, first)) return []
    const from = tokens[first]
    const to = tokens[last]
    return from && to && first < at && last > at ? [{ start: from.start, end: to.end, kind: 'email' as const }] : []
  })
}

type Words = { text: string; tokens: readonly Token[] }

/** Whether a word that stands alone before "at" is a word of the sentence. */
function isNoName(tokens: readonly Token[], at: number): boolean {
  const before = wordOf(tokens[at - 1])
  const isEnglish = wordOf(tokens[at + 1]) === 'at' && before === 'a'
  return NO_NAMES.has(wordOf(tokens[at])) || isEnglish
}

function wordOf(token: Token | undefined): string {
  return token?.text.toLowerCase() ?? ''
}

/** The token with which the domain ends: a name, and a dot with another one at least once. `at` where there is none. */
function domainEnd(words: Words, at: number): number {
  const { tokens } = words
  let end = at
  if (ARTICLES.has(wordOf(tokens[at + 1]))) return end
  let name: number | null = at + 1
  while (name !== null && name < at + MAX_DOMAIN_TOKENS && isNear(tokens, name)) {
    name = behindDot(words, name)
    if (name !== null && isTopLevel(tokens[name])) end = name
  }
  return end
}

/** The token behind the dot, written or as a word, that follows a name of one or two words; null where there is none. */
function behindDot(words: Words, name: number): number | null {
  const { tokens } = words
  for (const last of [name, name + 1]) {
    if (!isNear(tokens, last)) return null
    const gap = gapBefore(words, last + 1)
    if (gap === '.' || (PARTED_DOT.test(gap) && KNOWN_END.test(tokens[last + 1]?.text ?? ''))) return last + 1
    if (DOT.has(wordOf(tokens[last + 1]))) {
      return isNear(tokens, last + 1) && isNear(tokens, last + 2) ? last + 2 : null
    }
  }
  return null
}

/** No number: "at 5.30", "at two point five". */
function isTopLevel(token: Token | undefined): boolean {
  const { length } = wordOf(token)
  const isNumeric = token?.type === 'spoken' && NUMBER_KINDS.has(token.word.kind)
  const isWord = token?.type === 'word' || (token?.type === 'spoken' && !isNumeric)
  return isWord && length >= TOP_LEVEL_CHARS.min && length <= TOP_LEVEL_CHARS.max
}

/** The first token of the name before `at`: single letters and numbers, and whatever a joint connects. */
function nameStart(words: Words, at: number): number {
  const { tokens } = words
  let start = at - 1
  while (start > 0 && at - start < MAX_NAME_TOKENS && isNear(tokens, start)) {
    const before = tokens[start - 1]
    const isJoint =
      JOINTS.has(wordOf(before)) || JOINTS.has(wordOf(tokens[start])) || WRITTEN_JOINT.test(gapBefore(words, start))
    const isSpelled = isLetter(before) && (isLetter(tokens[start]) || isNumber(tokens[start]))
    if (!isJoint && !isSpelled && !(isNumber(before) && isLetter(tokens[start])) && !isNumber(tokens[start])) break
    start -= 1
  }
  return start
}

/** What is written between a token and the one before it. */
function gapBefore({ text, tokens }: Words, at: number): string {
  const [before, token] = [tokens[at - 1], tokens[at]]
  return before && token ? text.slice(before.end, token.start) : ''
}

/** A letter with an accent is a word: "écrivez à". */
function isLetter(token: Token | undefined): boolean {
  return token !== undefined && /^[a-z]$/i.test(token.text)
}

function isNumber(token: Token | undefined): boolean {
  return token?.type === 'number' || (token?.type === 'spoken' && token.word.kind === 'digit')
}

function isNear(tokens: readonly Token[], at: number): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]]
  return before !== undefined && token !== undefined && token.start - before.end <= MAX_GAP_CHARS
}

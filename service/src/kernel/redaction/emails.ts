import type { Span } from './spans.ts'
import type { Token } from './tokens.ts'

const MAX_LOCAL_CHARS = 64
const MAX_DOMAIN_CHARS = 253
const LOCAL_CHAR = /[\p{L}\p{M}\p{Nd}._%+'-]/u
const DOMAIN_CHAR = /[\p{L}\p{M}\p{Nd}.-]/u

/** The e-mail addresses of a text, written or spelled out ("ana dot diaz at example dot org"). */
export function emailSpans(text: string, tokens: readonly Token[]): Span[] {
  return [...writtenSpans(text), ...spelledSpans(tokens)]
}

function writtenSpans(text: string): Span[] {
  const spans: Span[] = []
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const start = reach(text, at, { step: -1, chars: LOCAL_CHAR, most: MAX_LOCAL_CHARS })
    const end = reach(text, at, { step: 1, chars: DOMAIN_CHAR, most: MAX_DOMAIN_CHARS })
    const domain = text.slice(at + 1, end).replace(/[.-]+$/, '')
    if (start < at && domain.includes('.')) spans.push({ start, end: at + 1 + domain.length, kind: 'email' })
  }
  return spans
}

/** How far the characters go from `at` into one direction: an index to cut at. */
function reach(text: string, at: number, { step, chars, most }: { step: 1 | -1; chars: RegExp; most: number }): number {
  let cursor = at + step
  while (Math.abs(cursor - at) <= most && chars.test(text.charAt(cursor))) cursor += step
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
const TOP_LEVEL_CHARS = { min: 2, max: 6 }
/** More words of a spelled name are not looked for. */
const MAX_NAME_TOKENS = 40
const MAX_DOMAIN_TOKENS = 12
/** Between the words of a spelled address stand blanks and commas at most. */
const MAX_GAP_CHARS = 3

function spelledSpans(tokens: readonly Token[]): Span[] {
  return tokens.flatMap((token, at) => {
    if (!AT.has(wordOf(token))) return []
    const last = domainEnd(tokens, at)
    const first = nameStart(tokens, at)
    const from = tokens[first]
    const to = tokens[last]
    return from && to && first < at && last > at ? [{ start: from.start, end: to.end, kind: 'email' as const }] : []
  })
}

function wordOf(token: Token | undefined): string {
  return token?.text.toLowerCase() ?? ''
}

/** The token with which the domain ends: a name, and "dot" with another one at least once. `at` where there is none. */
function domainEnd(tokens: readonly Token[], at: number): number {
  let end = at
  if (ARTICLES.has(wordOf(tokens[at + 1]))) return end
  for (let next = at + 1; next + 2 < at + MAX_DOMAIN_TOKENS && isNear(tokens, next); next += 2) {
    // A name of the domain may be said in two words.
    const dot = [next + 1, next + 2].find((each) => DOT.has(wordOf(tokens[each])))
    if (dot === undefined || !isNear(tokens, dot) || !isNear(tokens, dot + 1)) break
    const { length } = wordOf(tokens[dot + 1])
    if (length >= TOP_LEVEL_CHARS.min && length <= TOP_LEVEL_CHARS.max) end = dot + 1
    next = dot - 1
  }
  return end
}

/** The first token of the name before `at`: single letters and numbers, and whatever a joint connects. */
function nameStart(tokens: readonly Token[], at: number): number {
  let start = at - 1
  while (start > 0 && at - start < MAX_NAME_TOKENS && isNear(tokens, start)) {
    const before = tokens[start - 1]
    const isJoint = JOINTS.has(wordOf(before)) || JOINTS.has(wordOf(tokens[start]))
    const isSpelled = isLetter(before) && (isLetter(tokens[start]) || isNumber(tokens[start]))
    if (!isJoint && !isSpelled && !(isNumber(before) && isLetter(tokens[start])) && !isNumber(tokens[start])) break
    start -= 1
  }
  return start
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

import { type Around, isAmount, unnamingPieces } from './amounts.ts'
import { type NumberRun, numberRuns } from './number-runs.ts'
import type { RedactedKind, Span } from './spans.ts'
import type { Token } from './tokens.ts'

/** So many digits in a row name somebody or something of theirs, however they are grouped. */
export const MIN_DIGITS = 7
/** Nobody says a year or a price digit by digit. */
const MIN_SINGLE_DIGITS = 4
/** A turn that is nothing but digits is a part of a number that is dictated in pieces. */
const MIN_DIGITS_ALONE = 3
const CARD_DIGITS = { min: 13, max: 19 }
const PHONE_DIGITS = { min: 7, max: 15 }
const AROUND_CHARS = 3

/** Where numbers are found: in what somebody said, in what was typed or noted in a call, or in any other text. */
export type TextKind = 'turn' | 'note' | 'text'

/** The pieces of a text that are numbers to be taken out, in order. */
export function numberSpans(text: string, tokens: readonly Token[], kind: TextKind): Span[] {
  const runs = numberRuns(text, tokens, unnamingPieces(text))
  const isAlone = kind === 'turn' && isNothingButDigits(tokens, runs)
  return runs.filter((run) => isAlone || isTakenOut(text, tokens, { run, kind })).map((run) => spanOf(text, run))
}

/** What an entry on a keypad is taken out as, whole; null for one of fewer than three digits, which is a choice. */
export function kindOfKeys(keys: string): RedactedKind | null {
  const digits = keys.replaceAll(/\D/g, '')
  return digits.length < MIN_DIGITS_ALONE ? null : kindOf(digits, false)
}

/** One number in words ("a hundred") is an answer of its own, and no piece of a longer one. */
function isNothingButDigits(tokens: readonly Token[], runs: readonly NumberRun[]): boolean {
  const groups = runs.flatMap((run) => run.groups)
  const count = groups.reduce((sum, { digits }) => sum + digits.length, 0)
  if (count < MIN_DIGITS_ALONE || (groups.length === 1 && groups[0]?.isSpoken)) return false
  let at = 0
  return tokens.every((token, index) => {
    while ((runs[at]?.lastToken ?? index) < index) at += 1
    const isInside = index >= (runs[at]?.firstToken ?? Number.POSITIVE_INFINITY)
    return isInside || (token.type === 'spoken' && token.word.kind === 'filler')
  })
}

function isTakenOut(
  text: string,
  tokens: readonly Token[],
  { run, kind }: { run: NumberRun; kind: TextKind },
): boolean {
  const { length } = digitsOf(run)
  if (
    kind === 'note' &&
    length >= MIN_SINGLE_DIGITS &&
    run.groups.some((group) => group.digits.length >= MIN_SINGLE_DIGITS)
  )
    return !isYears(run)
  if (length >= MIN_DIGITS) return !isYears(run) && !isAmount(groupsOf(run), aroundOf(text, tokens, run))
  return singlesIn(run) >= MIN_SINGLE_DIGITS && !isCounting(run)
}

function digitsOf(run: NumberRun): string {
  return groupsOf(run).join('')
}

function groupsOf({ groups }: NumberRun): string[] {
  return groups.map(({ digits }) => digits)
}

/** The most groups of one digit that follow each other. */
function singlesIn({ groups }: NumberRun): number {
  let most = 0
  let count = 0
  for (const { digits } of groups) {
    count = digits.length === 1 ? count + 1 : 0
    most = Math.max(most, count)
  }
  return most
}

/** "One, two, three, four". */
function isCounting(run: NumberRun): boolean {
  return groupsOf(run).every((digits, at, all) => at === 0 || Number(digits) === Number(all[at - 1]) + 1)
}

/** Up to three years in a row: "2019-2026", "nineteen ninety five, twenty twenty". */
function isYears(run: NumberRun): boolean {
  const digits = digitsOf(run)
  if (digits.length > 12 || run.hasPlus) return false
  return /^(?:(?:19|20)\d\d)+$/.test(digits) && run.groups.every((group) => [2, 4].includes(group.digits.length))
}

function aroundOf(text: string, tokens: readonly Token[], { start, end, firstToken, lastToken }: NumberRun): Around {
  const before = text.slice(Math.max(0, start - AROUND_CHARS), start)
  const after = text.slice(end, end + AROUND_CHARS)
  const word = (token: Token | undefined) => token?.text.toLowerCase() ?? ''
  return { before, after, wordBefore: word(tokens[firstToken - 1]), wordAfter: word(tokens[lastToken + 1]) }
}

function spanOf(text: string, run: NumberRun): Span {
  const isSigned = run.hasPlus || /\+\s?\(?$/.test(text.slice(Math.max(0, run.start - AROUND_CHARS), run.start))
  return { start: leftOf(text, run.start), end: run.end, kind: kindOf(digitsOf(run), isSigned) }
}

/** With the plus and the bracket before it. */
function leftOf(text: string, start: number): number {
  let at = start
  while (at > 0 && start - at < 2 && '+('.includes(text.charAt(at - 1))) at -= 1
  return at
}

function kindOf(digits: string, isSigned: boolean): RedactedKind {
  const { length } = digits
  const isPhoneLong = length >= PHONE_DIGITS.min && length <= PHONE_DIGITS.max
  if (isSigned && isPhoneLong) return 'phone'
  if (length >= CARD_DIGITS.min && length <= CARD_DIGITS.max && passesLuhn(digits)) return 'card'
  if (!isPhoneLong) return 'digits'
  const isNorthAmerican = length === 10 || (length === 11 && digits.startsWith('1'))
  return digits.startsWith('0') || isNorthAmerican ? 'phone' : 'digits'
}

/** The check digit of payment cards. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at])
    const weighed = at % 2 === 1 ? digit * 2 : digit
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0
}

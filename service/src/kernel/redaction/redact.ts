import { emailSpans } from './emails.ts'
import { kindOfKeys, MIN_DIGITS, numberSpans, type TextKind } from './numbers.ts'
import { inOrder, replaced, type Span } from './spans.ts'
import { tokensOf } from './tokens.ts'

/** A piece of a conversation: what was heard of it, and what was generated and never heard. */
export type Parted = { text: string; unheard: string }

/**
 * Takes personal data out of texts before they are stored or told. Each function returns the text with a token (`[card]`, `[phone]`,
 * `[email]`, `[digits]`) in place of each number or address, and one without any of them as it is; redacting again changes nothing.
 * Time grows with the length of the text.
 */
export type Redactor = {
  /** Whether anything is taken out at all. */
  isOn: boolean
  /** What was said in a call. A number that goes over the place where the caller stopped hearing stands as one token before it. */
  turn(said: Parted): Parted
  /** What was noted in a call: numbers of four digits, too. */
  note(said: Parted): Parted
  /** An entry on the keypad, as one token, from three digits on: "1984" is a code here, and no year. */
  keys(keys: string): string
  text(text: string): string
  /** JSON stays JSON: a whole number that is taken out becomes a string, one with a fraction stays. Whatever is no JSON is a text. */
  json(text: string): string
  value<T>(value: T): T
}

const REDACTOR: Redactor = {
  isOn: true,
  turn: (said) => redactParted(said, 'turn'),
  note: (said) => redactParted(said, 'note'),
  keys: redactKeys,
  text: redactText,
  json: redactJson,
  value: (value) => redactValue(value) as typeof value,
}

const SAME: Redactor = {
  isOn: false,
  turn: (said) => said,
  note: (said) => said,
  keys: (keys) => keys,
  text: (text) => text,
  json: (text) => text,
  value: (value) => value,
}

/** @param isWanted the tenant's `compliance.redact_pii`. */
export function redactorFor(isWanted: boolean): Redactor {
  return isWanted ? REDACTOR : SAME
}

function spansOf(text: string, kind: TextKind): Span[] {
  const tokens = tokensOf(text)
  return inOrder([...emailSpans(text, tokens), ...numberSpans(text, tokens, kind)])
}

function redactText(text: string): string {
  return replaced(text, spansOf(text, 'text'))
}

function redactKeys(keys: string): string {
  const kind = kindOfKeys(keys)
  return kind === null ? keys : `[${kind}]`
}

function redactParted({ text, unheard }: Parted, kind: 'turn' | 'note'): Parted {
  const whole = unheard === '' ? text : `${text} ${unheard}`
  const spans = spansOf(whole, kind)
  const heardEnd = text.length
  const heard = spans.filter(({ start }) => start < heardEnd)
  const isCut = (heard.at(-1)?.end ?? 0) > heardEnd
  const from = isCut ? (heard.at(-1)?.end ?? 0) : Math.min(heardEnd + 1, whole.length)
  const rest = spans
    .filter(({ start }) => start >= heardEnd)
    .map((span) => ({ ...span, start: span.start - from, end: span.end - from }))
  return {
    text: replaced(
      text,
      heard.map((span) => ({ ...span, end: Math.min(span.end, heardEnd) })),
    ),
    unheard: replaced(whole.slice(from), rest).trimStart(),
  }
}

function redactJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    const clean = redactValue(value)
    return clean === value ? text : JSON.stringify(clean)
  } catch {
    // No JSON, or nested deeper than can be walked.
    return redactText(text)
  }
}

/** The same object where nothing in it had to change. */
function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') {
    // With a fraction it is a measure or a place. One of a few digits names nobody, and a list may have thousands.
    if (!Number.isInteger(value) || Math.abs(value) < 10 ** (MIN_DIGITS - 1)) return value
    const text = String(value)
    const clean = redactText(text)
    return clean === text ? value : clean
  }
  if (Array.isArray(value)) {
    const clean = value.map(redactValue)
    return clean.every((each, at) => each === value[at]) ? value : clean
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const clean = entries.map(([key, each]) => [redactText(key), redactValue(each)] as const)
  const isSame = clean.every(([key, each], at) => key === entries[at]?.[0] && each === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(clean)
}

/**
 * What has many digits and names nobody: identifiers with letters, dates with their times, times of day, decimal fractions, numbers
 * with commas between their thousands. Each pattern has bounded repetitions and is anchored at what it must not follow, so that a search grows
 * with the text alone.
 */
const UNNAMING = [
  /(?<![\p{L}\p{Nd}])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{Nd}])/giu,
  /(?<![\p{Nd}+])(?:19|20)\d{2}([-./])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?:[T ,]{1,2}\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?Z?)?(?![-./]?\d)/gu,
  /(?<![\p{Nd}+]|\d[-./])(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\1(?:19|20)\d{2}(?:[T ,]{1,2}\d{2}:\d{2}(?::\d{2})?)?(?![-./]?\d)/gu,
  // "22. 11. 2025", "November 22, 2025, 10:30": with blanks in it nothing more may stand beside it.
  /(?<![\p{Nd}+]|\d[-./, ]{1,2})(?:0?[1-9]|[12]\d|3[01])([-./]) (?:0?[1-9]|[12]\d|3[01])\1 (?:19|20)\d{2}(?:[ ,]{1,2}\d{1,2}:\d{2}(?::\d{2})?)?(?![-./, ]{0,2}\d)/gu,
  /(?<![\p{Nd}+]|\d[-./, ]{1,2})(?:0?[1-9]|[12]\d|3[01]), (?:19|20)\d{2},? \d{1,2}:\d{2}(?::\d{2})?(?![-./, ]{0,2}\d)/gu,
  // "At 10:30, 030 123456": the minutes are no piece of the number behind them. It stands apart from other digits: in "4:15-555-12:34"
  // a number was dictated in pairs, and heard as times.
  /(?<![\p{Nd}+:.,]|\p{Nd}[-\u2010-\u2015./\s]{1,2})(?:[01]?\d|2[0-3]):[0-5]\d(?![\p{Nd}:]|[-\u2010-\u2015./\s]{1,2}\p{Nd})/gu,
  // No nought at the beginning, and no digits behind a blank: those are of a longer number, "0176.12 34 56 78".
  /(?<![\p{Nd}.,+])[1-9]\d{0,2}(?:,\d{3}){1,6}(?:\.\d{1,2})?(?![.,\s]?\d)/gu,
  // As most of Europe writes it, "1.234.567,89": with a fraction behind it, for "612.345.678" is a telephone number.
  /(?<![\p{Nd}.,+])[1-9]\d{0,2}(?:\.\d{3}){1,6},\d{1,2}(?![.,\s]?\d)/gu,
  // With blanks or apostrophes only as money, "1 234 567,89 €".
  /(?<![\p{Nd}.,+'’]|\d[\s.])[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3}){1,6}[.,]\d{1,2}(?=\s?(?:[$€£¥%]|(?:euros?|eur|dollars?|usd|francs?|franken|chf|pounds?|pfund|pesos?)(?![\p{L}\p{Nd}])))/giu,
  /(?<![\p{Nd}.,+])(?:0|[1-9]\d{0,5})[.,]\d{1,2}(?![\d]|[.,-]\d|\s\d)/gu,
]

/** Digits, and what stands between them, as wide as the signs of Chinese and Japanese: `，－．／０…９：`. */
const WIDE = /[\uff0c-\uff1a]/g
/** How far they are from their narrow forms. */
const WIDER_BY = 0xfee0

/** A piece of a text. */
export type Piece = { start: number; end: number }

/** The pieces of a text whose digits are no part of any number that is taken out, in order. */
export function unnamingPieces(text: string): Piece[] {
  const narrow = text.replace(WIDE, (char) => String.fromCharCode(char.charCodeAt(0) - WIDER_BY))
  const pieces = UNNAMING.flatMap((pattern) =>
    Array.from(narrow.matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length })),
  )
  return pieces.sort((a, b) => a.start - b.start)
}

const CURRENCY_SIGN_BEFORE = /[$€£¥￥₩]\s?$/
const SIGN_AFTER = /^\s?(?:[$€£¥￥₩%％元円圓块원万萬億亿만억]|บาท)/
const CURRENCIES = new Set(
  (
    'dollar dollars euro euros eur usd gbp chf pound pounds cent cents dólares dolares libras livres ' +
    'franken francs dollars peso pesos pfund percent prozent procent yen'
  ).split(' '),
)

/** What stands around a number: the text just before and behind it, and the words next to it, in lower case. */
export type Around = { before: string; after: string; wordBefore: string; wordAfter: string }

/** Whether groups of digits read like one number, and what stands around them says that it is money or a share. */
export function isAmount(groups: readonly string[], { before, after, wordBefore, wordAfter }: Around): boolean {
  const [first = '', ...others] = groups
  const isOneNumber = others.length === 0 ? first.length <= 9 : first.length <= 3 && others.every((g) => g.length === 3)
  if (!isOneNumber) return false
  if (CURRENCY_SIGN_BEFORE.test(before) || SIGN_AFTER.test(after)) return true
  return CURRENCIES.has(wordBefore) || CURRENCIES.has(wordAfter)
}

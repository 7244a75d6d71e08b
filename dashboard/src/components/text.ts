import { LOCALE } from './locale.ts'
/** Stands where there is nothing to be told. */
export const DASH = '–'

/** A length of time, such as `1:05` or `2:00:09`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (count: number) => String(count).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

const NORTH_AMERICAN = /^\+1(\d{3})(\d{3})(\d{4})$/

/** A number as it is read; what no carrier gives as one is said in words. */
export function phoneText(phone: string | null | undefined): string {
  if (!phone) return DASH
  if (/^(anonymous|restricted|unavailable|unknown)$/i.test(phone)) return 'Withheld'
  return phone.replace(NORTH_AMERICAN, '+1 $1 $2 $3')
}

/** What stands between the digits of a number, with what is not seen: programs put marks of direction around one that is copied. */
const BETWEEN_DIGITS = /[\s()./·\u2212\p{Pd}\p{Cf}]/gu

/** A number as the API takes it, however people write it, such as `phoneText` does, and in whichever digits. Another text stays as it is. */
export function dialled<Text extends string | undefined>(text: Text): Text {
  const number = text
    ?.normalize('NFKC')
    .replaceAll(BETWEEN_DIGITS, '')
    .replaceAll(/\p{Nd}/gu, digitOf)
  return number !== undefined && /^\+?\d+$/.test(number) ? (number as Text) : text
}

/** Ten digits follow on each other in every writing, and no other ten on those. */
function digitOf(char: string): string {
  const code = char.codePointAt(0) ?? 0
  let value = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}

/** Values that are not words when they are spaced. */
const WORDS = new Map([['dnc_listed', 'On the do-not-call list']])

/** A value of the API in words: `caller_hangup` is `Caller hangup`. */
export function words(value: string | null | undefined): string {
  if (!value) return DASH
  const known = WORDS.get(value)
  if (known !== undefined) return known
  const spaced = value.replaceAll(/[_-]+/g, ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const DOLLARS = new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD' })
const CENTS = new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 })

/** An amount in US dollars, those below a dollar in more digits; of nothing a dash. */
export function usdText(usd: number | null): string {
  return usd === null ? DASH : (usd < 1 ? CENTS : DOLLARS).format(usd)
}

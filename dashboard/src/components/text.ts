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

/** A number as the API takes it, however people write it, such as `phoneText` does. Another text stays as it is. */
export function dialled<Text extends string | undefined>(text: Text): Text {
  const isNumber = text !== undefined && /^[\s().-]*\+?[\s().-]*\d[\d\s().-]*$/.test(text)
  return isNumber ? (text.replaceAll(/[\s().-]/g, '') as Text) : text
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

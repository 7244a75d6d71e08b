import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { PhoneNumber } from '../../kernel/phone.ts'

/** What stands in place of a number that was erased. */
export const ERASED = '[erased]'

/** How a number is found in texts: in any grouping, with and without its country's code or a nought before it. */
export type NumberMention = {
  /** For a regular expression of PostgreSQL, and of ours: both read it alike. */
  pattern: string
  /** The value with `ERASED` in place of the number, in whatever part of it; the same value where it is nowhere. */
  without(value: unknown): unknown
  /** The same for a text that may be JSON, and then stays it. */
  withoutInJson(text: string): string
}

/** Between two digits; never what parts two values of JSON. */
const SEPARATOR = '[^0-9A-Za-z"]{0,3}'
/** A shorter one without its country's code may be anything. */
const MIN_NATIONAL_DIGITS = 9
/** What stands in `+44 20 …` before a number that only looks like one of ours. */
const NO_OTHER_CODE = `(?<!(?:\\+|00)[0-9]{1,3}${SEPARATOR})`

export function numberMention(phone: PhoneNumber): NumberMention {
  const pattern = patternOf(phone)
  const found = new RegExp(pattern, 'g')
  const inText = (text: string) => text.replace(found, ERASED)

  function without(value: unknown): unknown {
    if (typeof value === 'string') return inText(value)
    if (typeof value === 'number') {
      const text = inText(String(value))
      return text === String(value) ? value : text
    }
    if (Array.isArray(value)) return value.map(without)
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [inText(key), without(each)]))
  }

  return {
    pattern,
    without,
    withoutInJson(text) {
      if (text.search(found) === -1) return text
      try {
        return JSON.stringify(without(JSON.parse(text)))
      } catch {
        return inText(text)
      }
    },
  }
}

function patternOf(phone: PhoneNumber): string {
  const parsed = parsePhoneNumberFromString(phone)
  const code = parsed?.countryCallingCode ?? ''
  const national = phone.slice(1 + code.length)
  const isLong = national.length >= MIN_NATIONAL_DIGITS
  const nought = `\\(?0\\)?${SEPARATOR}`
  const abroad = `(?:(?:\\+|00)${SEPARATOR})?${grouped(code)}${SEPARATOR}(?:${nought})?`
  // With the bracket that belongs to it, and nothing of what stands before that. Behind another country's code it is another number.
  const atHome = `${NO_OTHER_CODE}\\(?(?:${nought})?`
  const before = code === '' ? '\\(?\\+?' : isLong ? `(?:\\(?${abroad}|${atHome})` : `\\(?${abroad}`
  return `(?<![0-9])${before}${grouped(national)}(?![0-9])`
}

function grouped(digits: string): string {
  return Array.from(digits).join(SEPARATOR)
}

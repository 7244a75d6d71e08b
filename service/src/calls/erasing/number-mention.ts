import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { type PhoneNumber, spellingsOf } from '../../kernel/phone.ts'

/** What stands in place of a number that was erased. */
export const ERASED = '[erased]'

/** How a number is found in texts: in any grouping, with and without its country's code, or what is dialled before it there. */
export type NumberMention = {
  /** For a regular expression of PostgreSQL: finds every text that `without` changes, also as JSON, and some others. */
  pattern: string
  /** For one, too: finds what is this number and nothing else, as a carrier or a SIP address writes it. */
  wholePattern: string
  /** The value with `ERASED` in place of the number, in whatever part of it; the same value where it is nowhere. */
  without(value: unknown): unknown
  /** The same for a text that may be JSON, and then stays it. */
  withoutInJson(text: string): string
}

/**
 * Between two digits: anything but letters and digits, written out or as JSON writes it (`\n`, `\u00a0`), in JSON within JSON, too.
 * Never a quotation mark: that parts two values.
 */
const SEPARATOR = '(?:[^0-9A-Za-z"\\\\]|\\\\{1,8}(?!\\\\)(?:u[0-9A-Fa-f]{4}|[bfnrt])?){0,6}'
/** A shorter one without its country's code may be anything. */
const MIN_NATIONAL_DIGITS = 9
/** What stands in `+44 20 …` before a number that only looks like one of ours; the noughts of `10:00` are no such thing. */
const noOtherCode = (minDigits: 0 | 1) => `(?<!(?:\\+|(?:^|[^0-9:.])00)[0-9]{${minDigits},3}${SEPARATOR})`
/** A digit before or behind makes it another number; the one that ends `\u00a0` is none. */
const NO_DIGIT_BEFORE = '(?:(?<![0-9])|(?<=\\\\u[0-9A-Fa-f]{4}))'

export function numberMention(phone: PhoneNumber): NumberMention {
  const parts = partsOf(phone)
  const exact = exactPattern(parts)
  const whole = [exact, ...spellingsOf(phone).map((spelling) => spelling.slice(1))].join('|')
  const found = new RegExp(`${NO_DIGIT_BEFORE}${exact}(?![0-9])`, 'g')
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
    // Without what may stand around it, for which a database takes its time: that is looked at here.
    pattern: grouped(parts.national),
    wholePattern: `^${SEPARATOR}(?:(?:[Tt][Ee][Ll]|[Ss][Ii][Pp][Ss]?):${SEPARATOR})?(?:${whole})(?:[@;].*|${SEPARATOR})$`,
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

/** `code` is empty where no country is known to have it; `prefix` is what is dialled before it at home: mostly a nought, or nothing. */
type Parts = { code: string; national: string; prefix: string }

function partsOf(phone: PhoneNumber): Parts {
  const parsed = parsePhoneNumberFromString(phone)
  const code = parsed?.countryCallingCode ?? ''
  const national = phone.slice(1 + code.length)
  const atHome = parsed?.formatNational().replaceAll(/[^0-9]/g, '') ?? ''
  return { code, national, prefix: atHome.endsWith(national) ? atHome.slice(0, -national.length) : '' }
}

function exactPattern({ code, national, prefix }: Parts): string {
  const isLong = national.length >= MIN_NATIONAL_DIGITS
  // A nought before others' numbers, too: people write it who know it of their own.
  const dialled = prefix === '' || prefix === '0' ? '0' : `(?:${grouped(prefix)}|0)`
  const nought = `\\(?${dialled}\\)?${SEPARATOR}`
  const abroad = `(?:(?:\\+|00)${SEPARATOR})?${grouped(code)}${SEPARATOR}(?:${nought})?`
  // With the bracket that belongs to it, and nothing of what stands before that. Behind another country's code it is another number,
  // also where it begins with that code: "+32 3 234 56 78" is not "323 234 5678".
  const isOther = parsePhoneNumberFromString(`+${national}`)?.isValid() ?? false
  const atHome = `${noOtherCode(isOther ? 0 : 1)}\\(?(?:${nought})?`
  const before = code === '' ? '\\(?\\+?' : isLong ? `(?:\\(?${abroad}|${atHome})` : `\\(?${abroad}`
  return `${before}${grouped(national)}`
}

function grouped(digits: string): string {
  return Array.from(digits).join(SEPARATOR)
}

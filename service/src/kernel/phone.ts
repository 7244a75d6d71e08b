import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** A number in E.164: `+`, then 2 to 15 digits, the first of them not 0. Each has one spelling. */
export type PhoneNumber = string & { readonly __brand: 'PhoneNumber' }

/** The shape of an E.164 number, for JSON Schema. `isPhoneNumber` also asks whether it fits its country. */
export const E164_PATTERN = '^\\+[1-9][0-9]{1,14}$'

const E164 = new RegExp(E164_PATTERN)

/**
 * Whether `text` is E.164, possible (its length fits its country's plan), and written as it is dialled from abroad: with the 0 that
 * is dialled before it within its country it would be somebody else's, and ring the same telephone.
 *
 * Not "valid": test numbers and ranges newer than the metadata must pass.
 */
export function isPhoneNumber(text: string): text is PhoneNumber {
  return phoneNumberOf(text) === text
}

/**
 * "UNAVAILABLE" on the keys of a telephone: what carriers tell of a caller who withholds the number. Of such words it is the only one that
 * could be a number.
 */
const WITHHELD = '+86282452253'

/** The number that `text` is, which a carrier may have sent, or which was kept, with a prefix of its country; null when it is none. */
export function phoneNumberOf(text: string): PhoneNumber | null {
  const parsed = E164.test(text) && text !== WITHHELD ? parsePhoneNumberFromString(text, { extract: false }) : undefined
  if (!parsed?.isPossible()) return null
  // Behind one prefix may stand another one.
  return parsed.number === text ? (text as PhoneNumber) : phoneNumberOf(parsed.number)
}

/**
 * Whose number somebody sees who is rung in the place of a call's agent; null is what the carrier shows by itself, which is the caller's. In
 * the name of a caller who withholds theirs, or whose own is no number, carriers may ring nobody: then it is the number that was called.
 */
export function shownNumber(call: { direction: string; from: string; to: string }): PhoneNumber | null {
  return call.direction === 'inbound' && phoneNumberOf(call.from) === null ? phoneNumberOf(call.to) : null
}

/** What countries dial before numbers of their own. */
const PREFIXES = ['0', '1', '8', '06']

/** A number as it may have been kept before each had one spelling: that one, and those with a prefix of its country. */
export function spellingsOf(phone: PhoneNumber): string[] {
  const code = parsePhoneNumberFromString(phone)?.countryCallingCode ?? ''
  const prefixed = PREFIXES.map((prefix) => `+${code}${prefix}${phone.slice(1 + code.length)}`)
  return [phone, ...prefixed.filter((text) => phoneNumberOf(text) === phone)]
}

const WANTED = 'must be a phone number in E.164, like +14155550100'

/** What is wrong with what is no number, in words that complete "<field> …" and do not repeat it. */
export function phoneFault(text: unknown): string {
  if (typeof text !== 'string' || phoneNumberOf(text) === null) return WANTED
  return `${WANTED}, as it is dialled from abroad: without the prefix that its own country dials before it`
}

import { isPossiblePhoneNumber } from 'libphonenumber-js/max'

/** A number in E.164: `+`, then 2 to 15 digits, the first of them not 0. */
export type PhoneNumber = string & { readonly __brand: 'PhoneNumber' }

/** The shape of an E.164 number, for JSON Schema. `isPhoneNumber` also asks whether its length fits its country. */
export const E164_PATTERN = '^\\+[1-9][0-9]{1,14}$'

const E164 = new RegExp(E164_PATTERN)

/**
 * Whether `text` is E.164 and possible (its length fits its country's plan).
 *
 * Not "valid": test numbers and ranges newer than the metadata must pass.
 */
export function isPhoneNumber(text: string): text is PhoneNumber {
  return E164.test(text) && isPossiblePhoneNumber(text)
}

import { type PhoneNumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** What a number says of itself. */
export type DialledNumber = {
  /** E.164. */
  text: string
  /** The countries that it may be in, ISO 3166 alpha-2: one where its digits tell, none for a number of no country. */
  countries: readonly string[]
  /** What its range is for; null where the numbering plans that we know do not tell. */
  type: PhoneNumberType | null
}

/** Reads a number in E.164. One that cannot be read, or whose calling code nobody has, is in no country. */
export function readNumber(text: string): DialledNumber {
  const number = parsePhoneNumberFromString(text)
  if (!number) return { text, countries: [], type: null }
  const countries = number.country ? [number.country] : number.getPossibleCountries()
  return { text, countries, type: number.getType() ?? null }
}

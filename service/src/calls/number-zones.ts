import type { DialledNumber } from '../kernel/dialled-number.ts'
import { AREA_CODE_ZONES } from './area-code-zones.ts'
import { COUNTRY_ZONES } from './country-zones.ts'

const NORTH_AMERICA = /^\+1(\d{3})/

/** Who shares the area codes that go with no place, and gets the new ones. */
const NORTH_AMERICAN_COUNTRIES = ['US', 'CA']

/** The time zones that the number may be in, all of them: a number does not tell where its phone is. Empty: nothing is known. */
export function zonesOf({ text, countries }: DialledNumber): readonly string[] {
  const [, areaCode] = NORTH_AMERICA.exec(text) ?? []
  if (areaCode === undefined) return zonesOfCountries(countries)
  return AREA_CODE_ZONES.get(areaCode) ?? zonesOfCountries(islandOf(countries) ?? NORTH_AMERICAN_COUNTRIES)
}

/** The islands have an area code each, so that the country is known; null for what may be in several countries. */
function islandOf(countries: readonly string[]): readonly string[] | null {
  const [country, another] = countries
  const isOne = country !== undefined && another === undefined
  return isOne && !NORTH_AMERICAN_COUNTRIES.includes(country) ? countries : null
}

function zonesOfCountries(countries: readonly string[]): readonly string[] {
  return [...new Set(countries.flatMap((country) => COUNTRY_ZONES.get(country) ?? []))]
}

/**
 * In which it speaks what it is given without the name of a voice, by the primary subtag of a language; the first where it does not speak
 * that of the region.
 */
const LOCALES: ReadonlyMap<string, readonly string[]> = new Map([
  ['da', ['da-DK']],
  ['de', ['de-DE']],
  ['en', ['en-US', 'en-GB', 'en-AU', 'en-CA', 'en-IN']],
  ['es', ['es-ES', 'es-MX']],
  ['fr', ['fr-FR', 'fr-CA']],
  ['it', ['it-IT']],
  ['nb', ['nb-NO']],
  ['nl', ['nl-NL']],
  ['nn', ['nb-NO']],
  ['no', ['nb-NO']],
  ['pl', ['pl-PL']],
  ['pt', ['pt-PT', 'pt-BR']],
  ['ru', ['ru-RU']],
  ['sv', ['sv-SE']],
])

/**
 * The carrier's name for a language, however its code is written (`pt-BR`, `por-BR`, `pt-Latn-BR`); null for one that is not known to be
 * spoken: with a wrong name nothing may be said at all.
 */
export function sayLanguage(language: string): string | null {
  const wanted = localeOf(language)
  const locales = LOCALES.get(wanted?.language ?? '') ?? []
  return locales.find((locale) => locale === `${wanted?.language}-${wanted?.region}`) ?? locales[0] ?? null
}

function localeOf(language: string): Intl.Locale | null {
  try {
    return new Intl.Locale(language)
  } catch {
    return null
  }
}

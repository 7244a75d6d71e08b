/**
 * In which dates and numbers are written: in English, as all of the page is, in the way of the place where somebody is. In the language of
 * their browser half of a sentence would be in another one, and some of its figures in other digits than the rest.
 */
export const LOCALE = localeFor(typeof navigator === 'undefined' ? 'en' : navigator.language)

/** English as it is written where people speak a language such as `de-DE`; where nobody has said how, as in most of the world. */
export function localeFor(language: string): string {
  // Some browsers tell what is none, as `en-US@posix`.
  if (!isLocale(language)) return 'en-US'
  const { language: spoken, region = 'US' } = new Intl.Locale(language).maximize()
  if (spoken === 'en') return language
  const wanted = `en-${region}`
  const isKnown = new Intl.DateTimeFormat(wanted).resolvedOptions().locale === wanted
  return isKnown ? wanted : 'en-001'
}

/** To be done before a library is loaded that writes in the language of the browser: where that is none it could not be. */
export function mendLanguage(): void {
  if (!isLocale(navigator.language)) Object.defineProperty(navigator, 'language', { value: LOCALE, configurable: true })
}

function isLocale(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length === 1
  } catch {
    return false
  }
}

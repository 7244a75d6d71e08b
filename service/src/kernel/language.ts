/** Norwegians write down which of their two languages it is; what listens and speaks knows the one name for both. */
const SPOKEN_NAMES: Partial<Record<string, string>> = { nb: 'no', nn: 'no' }

/** Codes that were withdrawn, and are still given: Hebrew, Indonesian, Yiddish. */
const NEWER_CODES: Partial<Record<string, string>> = { iw: 'he', in: 'id', ji: 'yi' }

/**
 * The language of a well-formed tag, without its script, country and what else providers refuse: `pt` of `pt-BR`. By its code of
 * two letters (ISO 639-1) where it has one, else of three.
 */
export function primaryLanguage(tag: string): string {
  const [given = ''] = tag.toLowerCase().split('-')
  // Two letters are left as they are: a few (`tl`) have a newer name of three, which providers do not know.
  const code = given.length === 2 ? given : new Intl.Locale(given).language
  return SPOKEN_NAMES[code] ?? NEWER_CODES[code] ?? code
}

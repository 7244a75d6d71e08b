/** The languages in which numbers are dictated here. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'nl'

export const LANGUAGES: Language[] = ['en', 'de', 'fr', 'es', 'nl']

const ONES: Record<Language, string[]> = {
  en: 'zero one two three four five six seven eight nine'.split(' '),
  de: 'null eins zwei drei vier fünf sechs sieben acht neun'.split(' '),
  fr: 'zéro un deux trois quatre cinq six sept huit neuf'.split(' '),
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve'.split(' '),
  nl: 'nul een twee drie vier vijf zes zeven acht negen'.split(' '),
}

const TEENS: Record<Language, string[]> = {
  en: 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
  de: 'zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'.split(' '),
  fr: 'dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf'.split(' '),
  es: 'diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve'.split(' '),
  nl: 'tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien'.split(' '),
}

const TENS: Record<Language, string[]> = {
  en: 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' '),
  de: 'zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' '),
  fr: 'vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' '),
  es: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' '),
  nl: 'twintig dertig veertig vijftig zestig zeventig tachtig negentig'.split(' '),
}

/** Two digits as people say them. @param pair from `00` to `99`. */
export function saidPair(pair: string, language: Language): string {
  const [ten, one] = [Number(pair[0]), Number(pair[1])]
  const digit = (value: number) => ONES[language][value] ?? ''
  if (ten === 0) return `${digit(0)} ${digit(one)}`
  if (ten === 1) return TEENS[language][one] ?? ''
  const tens = TENS[language][ten - 2] ?? ''
  if (language === 'fr' && (ten === 7 || ten === 9)) return `${tens}-${TEENS.fr[one] ?? ''}`
  if (one === 0) return tens
  switch (language) {
    case 'de':
      return `${one === 1 ? 'ein' : digit(one)}und${tens}`
    case 'nl':
      return `${digit(one)}${digit(one).endsWith('e') ? 'ën' : 'en'}${tens}`
    case 'es':
      return ten === 2
        ? `veinti${['', 'uno', 'dós', 'trés', 'cuatro', 'cinco', 'séis', 'siete', 'ocho', 'nueve'][one]}`
        : `${tens} y ${digit(one)}`
    case 'fr':
      return one === 1 && ten < 8 ? `${tens} et un` : `${tens}-${digit(one)}`
    default:
      return `${tens}${one % 2 === 0 ? '-' : ' '}${digit(one)}`
  }
}

/** Digit by digit. */
export function saidDigits(digits: string, language: Language): string[] {
  return Array.from(digits, (digit) => ONES[language][Number(digit)] ?? '')
}

const TWICE: Record<Language, string> = { en: 'double', de: 'doppel', fr: 'double', es: 'doble', nl: 'dubbel' }

/** Digit by digit, but for two of one kind: "double five". */
export function saidDoubled(digits: string, language: Language): string[] {
  const words: string[] = []
  for (let at = 0; at < digits.length; at += 1) {
    const [word = ''] = saidDigits(digits.charAt(at), language)
    const isTwice = digits[at] === digits[at + 1]
    words.push(isTwice ? `${TWICE[language]} ${word}` : word)
    if (isTwice) at += 1
  }
  return words
}

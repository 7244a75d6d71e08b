/**
 * A word with which numbers are dictated. `digit`: one digit; `pair`: ten to nineteen, or a compound such as "dreiundzwanzig";
 * `tens`: what a digit may follow ("forty two"); `times`: the next digit is said so often ("double five"); `hundred`; `scale`: it
 * makes an amount of what stands before it; `and`; `filler`: what people say between two groups.
 */
export type NumberWord =
  | { kind: 'digit' | 'pair' | 'tens'; digits: string }
  | { kind: 'times'; times: number }
  | { kind: 'hundred' | 'scale' | 'and' | 'filler' | 'plus' }

type Language = {
  /** From nought to nine; several words for one digit stand apart by a slash. */
  digits: string
  /** From ten on. */
  teens: string
  /** From twenty on; a dash where the language has no word of its own. */
  tens: string
  twice: string
  thrice: string
  hundreds: string
  scales: string
  and: string
  fillers: string
}

const LANGUAGES: Language[] = [
  {
    digits: 'zero/oh/o/nought/naught/null one two three four five/fife six seven eight nine/niner',
    teens: 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    tens: 'twenty thirty forty/fourty fifty sixty seventy eighty ninety',
    twice: 'double',
    thrice: 'triple treble',
    hundreds: 'hundred',
    scales: 'thousand million billion',
    and: 'and',
    fillers: 'uh um er erm hmm mm then dash hyphen dot point space comma sorry no wait okay ok yes yeah right',
  },
  {
    digits: 'null/nul eins/ein/eine zwei/zwo drei vier fünf/fuenf sechs sieben acht neun',
    teens: 'zehn elf zwölf/zwoelf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
    tens: 'zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig',
    twice: 'doppel doppelte zweimal',
    thrice: 'dreifach dreimal',
    hundreds: 'hundert',
    scales: 'tausend million millionen',
    and: 'und',
    fillers: 'äh ähm öh öhm also dann strich bindestrich punkt komma die ja nein genau moment',
  },
  {
    digits: 'zéro/zero un/une deux trois quatre cinq six sept huit neuf',
    teens: 'dix onze douze treize quatorze quinze seize',
    tens: 'vingt/vingts trente quarante cinquante soixante septante huitante/octante nonante',
    twice: 'double',
    thrice: 'triple',
    hundreds: 'cent cents',
    scales: 'mille million millions',
    and: 'et',
    fillers: 'euh heu alors puis ensuite tiret point virgule le oui non pardon attendez',
  },
  {
    digits: 'cero uno/un/una dos tres cuatro cinco seis siete ocho nueve',
    teens: 'diez once doce trece catorce quince dieciséis/dieciseis diecisiete dieciocho diecinueve',
    tens: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
    twice: 'doble',
    thrice: 'triple',
    hundreds: 'cien ciento',
    scales: 'mil millón millon millones',
    and: 'y',
    fillers: 'eh em este pues luego guion guión punto coma el sí no perdón espera',
  },
  {
    digits: 'nul een/één twee drie vier vijf zes zeven acht negen',
    teens: 'tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien',
    tens: 'twintig dertig veertig vijftig zestig zeventig tachtig negentig',
    twice: 'dubbel dubbele tweemaal',
    thrice: 'driemaal driedubbel',
    hundreds: 'honderd',
    scales: 'duizend miljoen miljard',
    and: 'en',
    fillers: 'eh ehm uh dan streepje punt komma de ja nee sorry wacht',
  },
]

/** From one on, and from twenty on. */
const GERMAN_PARTS = {
  ones: 'ein/eins zwei drei vier fünf/fuenf sechs sieben acht neun',
  tens: 'zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig',
}
const DUTCH_PARTS = {
  ones: 'een twee drie vier vijf zes zeven acht negen',
  tens: 'twintig dertig veertig vijftig zestig zeventig tachtig negentig',
}

const SPANISH_TWENTIES =
  'veintiuno/veintiún veintidós/veintidos veintitrés/veintitres veinticuatro veinticinco veintiséis/veintiseis veintisiete veintiocho veintinueve'

const WORDS: ReadonlyMap<string, NumberWord> = allWords()

/** What a word, in lower case, is to a number; undefined for every other word. */
export function numberWord(word: string): NumberWord | undefined {
  return WORDS.get(word)
}

/** Of two meanings the first one stands: a word that is a digit anywhere is one, whatever else it is elsewhere. */
function allWords(): Map<string, NumberWord> {
  const series = [
    ...LANGUAGES.flatMap(({ digits }) => seriesOf('digit', digits, { from: 0, step: 1 })),
    ...LANGUAGES.flatMap(({ teens }) => seriesOf('pair', teens, { from: 10, step: 1 })),
    ...LANGUAGES.flatMap(({ tens }) => seriesOf('tens', tens, { from: 20, step: 10 })),
    ...seriesOf('pair', SPANISH_TWENTIES, { from: 21, step: 1 }),
    ...compoundsOf(GERMAN_PARTS, () => 'und'),
    ...compoundsOf(DUTCH_PARTS, (one) => (one.endsWith('e') ? 'ën' : 'en')),
  ]
  const others = LANGUAGES.flatMap(({ twice, thrice, hundreds, scales, and, fillers }) => [
    ...entriesOf(twice, { kind: 'times', times: 2 }),
    ...entriesOf(thrice, { kind: 'times', times: 3 }),
    ...entriesOf(hundreds, { kind: 'hundred' }),
    ...entriesOf(scales, { kind: 'scale' }),
    ...entriesOf(and, { kind: 'and' }),
    ...entriesOf(fillers, { kind: 'filler' }),
  ])
  const all = [...series, ...others, ...entriesOf('plus más', { kind: 'plus' })]
  return new Map(all.toReversed())
}

type Entry = [word: string, entry: NumberWord]

function entriesOf(words: string, entry: NumberWord): Entry[] {
  return words.split(/[ /]/).map((word) => [word, entry])
}

function seriesOf(kind: 'digit' | 'pair' | 'tens', words: string, { from, step }: { from: number; step: number }) {
  return words.split(' ').flatMap((each, at) => entriesOf(each, { kind, digits: String(from + at * step) }))
}

/** German and Dutch write "einundzwanzig" and "eenentwintig" as one word, with the digit before the tens. */
function compoundsOf({ ones, tens }: typeof GERMAN_PARTS, joint: (one: string) => string): Entry[] {
  return ones
    .split(' ')
    .flatMap((spellings, one) => spellings.split('/').map((word) => ({ word, digit: one + 1 })))
    .flatMap(({ word, digit }) =>
      tens
        .split(' ')
        .flatMap((spellings, at) =>
          spellings
            .split('/')
            .flatMap((ten) => entriesOf(`${word}${joint(word)}${ten}`, { kind: 'pair', digits: `${at + 2}${digit}` })),
        ),
    )
}

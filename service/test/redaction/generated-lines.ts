import { SeededRandom } from '../corpus/random.ts'
import { LANGUAGES, type Language, saidDigits, saidDoubled, saidPair } from './spoken-numbers.ts'

/** A line of the corpus: what is to be taken out stands between `{kind:` and `}`. */
export type MarkedLine = string

const LEADS: Record<Language, Record<'card' | 'phone' | 'email' | 'account', string[]>> = {
  en: {
    card: ['My card number is %.', 'Sure, it is %, thank you.', 'The card says %', 'Please charge % for it.'],
    phone: [
      'You can reach me at %.',
      'Call me back on % please.',
      'My number is %, any time.',
      'It was % that called.',
    ],
    email: ['Write to %.', 'My address is %, all small letters.', 'Send it to % please.'],
    account: ['The account is %.', 'My member number is %, I think.', 'It says % on the letter.'],
  },
  de: {
    card: ['Meine Kartennummer ist %.', 'Gerne: %, bitte.', 'Auf der Karte steht %'],
    phone: ['Sie erreichen mich unter %.', 'Rufen Sie % an, bitte.', 'Meine Nummer ist %, danke.'],
    email: ['Schreiben Sie an %.', 'Meine Adresse ist %, alles klein.'],
    account: ['Die Kundennummer lautet %.', 'Mein Konto ist %, glaube ich.'],
  },
  fr: {
    card: ['Mon numéro de carte est %.', 'Voici ma carte : %, merci.', 'Sur la carte on lit %'],
    phone: ['Vous pouvez me joindre au %.', 'Rappelez-moi au % demain.', 'Mon téléphone : %, merci.'],
    email: ['Écrivez à %.', 'Mon adresse est %, en minuscules.'],
    account: ['Mon numéro client est %.', 'Le contrat porte ce numéro : %'],
  },
  es: {
    card: ['Mi tarjeta es la %.', 'Claro, es %, gracias.', 'En la tarjeta pone %'],
    phone: ['Me puede llamar al %.', 'Mi teléfono es %, gracias.', 'Llame al % mañana.'],
    email: ['Escríbame a %.', 'Mi correo es %, todo en minúsculas.'],
    account: ['Mi número de cliente es %.', 'La cuenta es %, creo.'],
  },
  nl: {
    card: ['Mijn kaartnummer is %.', 'Natuurlijk: %, dank u.', 'Op de kaart staat %'],
    phone: ['U kunt mij bereiken op %.', 'Bel mij terug op % alstublieft.', 'Mijn nummer is %, bedankt.'],
    email: ['Schrijf naar %.', 'Mijn adres is %, kleine letters.'],
    account: ['Mijn klantnummer is %.', 'Het contract heeft nummer %, denk ik.'],
  },
}

const NOTHING: Record<Language, string[]> = {
  en: [
    'I have lived here since #Y.',
    'It costs #P dollars.',
    'That will be $#P in all.',
    'My order number is #O.',
    'We are open from #h:30 to 18:00.',
    'There were #S of us, and #S more came.',
    'The appointment is on 2026-0#S-1#S at #h:15.',
    'In #Y or #Y, I am not sure.',
    'He is forty #W years old.',
    'That was nineteen ninety #W, I believe.',
    'One of the #S boxes was broken.',
    'It is two hundred thirty #W thousand dollars.',
    'Flat #S, #O Main Street.',
    'Between #Y and #Y we had #S dogs.',
    'One two three four, testing.',
    'They won #S to #S.',
    'We met at the dot on the map.',
    'The total is 1,2#S4,567.00.',
  ],
  de: [
    'Ich wohne seit #Y hier.',
    'Das kostet #P Euro.',
    'Die Bestellnummer ist #O.',
    'Wir haben von #h:00 bis 18 Uhr auf.',
    'Er ist einundvierzig Jahre alt.',
    'Der Termin ist am 0#S.11.2026 um #h:15 Uhr.',
    'Das war neunzehnhundertfünfundneunzig.',
    'Eine von den #S Kisten, ein Kind und zwei Hunde.',
    'Es sind 1.000.000 Euro.',
    'Zwischen #Y und #Y.',
  ],
  fr: [
    "J'habite ici depuis #Y.",
    'Ça coûte #P euros.',
    'La commande numéro #O.',
    'Le rendez-vous est le 0#S/11/2026 à #h heures.',
    'Un homme et une femme, deux enfants.',
    'Il a quarante et un ans.',
    'Cela fait 1 000 000 euros.',
    'Entre #Y et #Y.',
    'Nous étions #S ou #S.',
  ],
  es: [
    'Vivo aquí desde #Y.',
    'Cuesta #P euros.',
    'El pedido número #O.',
    'La cita es el 0#S/11/2026 a las #h.',
    'Tiene cuarenta y un años.',
    'Una casa y dos coches.',
    'Entre #Y y #Y.',
    'Éramos #S o #S.',
  ],
  nl: [
    'Ik woon hier sinds #Y.',
    'Het kost #P euro.',
    'Bestelnummer #O.',
    'De afspraak is op 0#S-11-2026 om #h uur.',
    'Hij is eenenveertig jaar.',
    'Een huis en twee auto’s.',
    'Tussen #Y en #Y.',
    'Er waren er #S of #S.',
  ],
}

/** Lines that are the same for each seed. */
export function generatedLines(seed: number): { planted: MarkedLine[]; plain: string[] } {
  const random = new SeededRandom(seed)
  const planted = LANGUAGES.flatMap((language) =>
    Array.from({ length: 90 }, (_, at) => plantedLine(random, language, at)),
  )
  const plain = LANGUAGES.flatMap((language) =>
    NOTHING[language].flatMap((line) => Array.from({ length: 4 }, () => filled(random, line))),
  )
  return { planted, plain }
}

function filled(random: SeededRandom, line: string): string {
  return line
    .replaceAll('#Y', () => String(1_950 + random.below(77)))
    .replaceAll('#P', () => `${1 + random.below(2_000)}.${random.below(10)}${random.below(10)}`)
    .replaceAll('#O', () => String(1_000 + random.below(99_000)))
    .replaceAll('#S', () => String(1 + random.below(8)))
    .replaceAll('#h', () => String(7 + random.below(5)))
    .replaceAll('#W', () => random.pick(['two', 'three', 'five', 'seven']))
}

function plantedLine(random: SeededRandom, language: Language, at: number): MarkedLine {
  const kind = (['card', 'phone', 'account', 'card', 'phone', 'email'] as const)[at % 6] ?? 'card'
  const lead = random.pick(LEADS[language][kind])
  const plant = { card: cardOf, phone: phoneOf, email: emailOf, account: accountOf }[kind](random, language)
  return lead.replace('%', () => plant)
}

function someDigits(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, () => random.below(10)).join('')
}

/** With the check digit of cards. */
function cardDigits(random: SeededRandom, length: number): string {
  const body = `${length === 15 ? '37' : random.pick(['4', '51', '55'])}${someDigits(random, 20)}`.slice(0, length - 1)
  const sum = Array.from(body)
    .reverse()
    .reduce((all, char, at) => {
      const weighed = Number(char) * (at % 2 === 0 ? 2 : 1)
      return all + (weighed > 9 ? weighed - 9 : weighed)
    }, 0)
  return `${body}${(10 - (sum % 10)) % 10}`
}

function grouped(digits: string, size: number, between: string): string {
  return (digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(between)
}

/** Some of it written, some of it said. */
function mixed(digits: string, language: Language): string {
  const half = Math.floor(digits.length / 2)
  return `${digits.slice(0, half)} ${saidDigits(digits.slice(half), language).join(' ')}`
}

function inPairs(digits: string, language: Language): string {
  return (digits.match(/../g) ?? []).map((pair) => saidPair(pair, language)).join(', ')
}

function dictated(random: SeededRandom, digits: string, language: Language): string {
  const ways = [
    () => saidDigits(digits, language).join(' '),
    () => grouped(saidDigits(digits, language).join(' '), 200, ' '),
    () => saidDoubled(digits, language).join(' '),
    () => saidDigits(digits, language).join(', '),
    () => mixed(digits, language),
    () => inPairs(digits.length % 2 === 0 ? digits : `${digits}0`, language),
  ]
  return random.pick(ways)()
}

function cardOf(random: SeededRandom, language: Language): string {
  const digits = cardDigits(random, random.chance(0.2) ? 15 : 16)
  const ways = [
    () => digits,
    () => grouped(digits, 4, ' '),
    () => grouped(digits, 4, '-'),
    () => grouped(digits, 4, '. '),
    () => dictated(random, digits, language),
    () => dictated(random, digits, language),
  ]
  const said = random.pick(ways)()
  return `{card:${said}}`
}

const CODES: Record<Language, string> = { en: '1', de: '49', fr: '33', es: '34', nl: '31' }
const NATIONAL_DIGITS: Record<Language, number> = { en: 10, de: 10, fr: 9, es: 9, nl: 9 }

function phoneOf(random: SeededRandom, language: Language): string {
  const own = `${2 + random.below(7)}${someDigits(random, NATIONAL_DIGITS[language] - 1)}`
  const local = language === 'en' || language === 'es' ? own : `0${own}`
  const ways = [
    () => `+${CODES[language]}${own}`,
    () => `+${CODES[language]} ${grouped(own, 3, ' ')}`,
    () => (language === 'en' ? `(${own.slice(0, 3)}) ${own.slice(3, 6)}-${own.slice(6)}` : grouped(local, 2, ' ')),
    () => grouped(local, 3, '.'),
    () => dictated(random, local, language),
    () => dictated(random, local, language),
    () => `plus ${saidDigits(`${CODES[language]}${own}`, language).join(' ')}`,
  ]
  return `{phone:${random.pick(ways)()}}`
}

function accountOf(random: SeededRandom, language: Language): string {
  const digits = `${1 + random.below(9)}${someDigits(random, 7 + random.below(4))}`
  return `{digits:${random.chance(0.5) ? digits : dictated(random, digits, language)}}`
}

const NAMES = ['ana', 'jonas', 'marie', 'piet', 'robin', 'lucia', 'j.doe', 'info', 'm.mueller']
const DOMAINS = ['example.com', 'example.org', 'mail.example.net', 'beispiel.de', 'ejemplo.es', 'voorbeeld.nl']
const DOT: Record<Language, string> = { en: 'dot', de: 'punkt', fr: 'point', es: 'punto', nl: 'punt' }
const AT: Record<Language, string> = { en: 'at', de: 'at', fr: 'arobase', es: 'arroba', nl: 'apenstaartje' }

function emailOf(random: SeededRandom, language: Language): string {
  const address = `${random.pick(NAMES)}@${random.pick(DOMAINS)}`
  if (random.chance(0.6)) return `{email:${address}}`
  const spelled = address.replaceAll('.', ` ${DOT[language]} `).replace('@', ` ${AT[language]} `)
  return `{email:${spelled}}`
}

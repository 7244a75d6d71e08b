import type { DialledNumber } from './dialled-number.ts'

/** Why a number is never called: who answers it earns by the call, or nobody can foresee what it costs. */
export type CostlyKind = 'a premium-rate number' | 'a shared-cost number' | 'a satellite phone' | 'a personal number'

/** Networks and services that belong to no country. What a call to 883 costs depends on digits that nobody publishes. */
const WORLDWIDE: [kind: CostlyKind, codes: string[]][] = [
  ['a satellite phone', ['870', '881', '882', '883']],
  ['a premium-rate number', ['979']],
  ['a shared-cost number', ['808']],
  ['a personal number', ['878']],
]

/**
 * Where premium-rate and shared-cost ranges begin, by calling code. The numbering plans of libphonenumber know the numbers
 * that are in use; here a range counts as a whole, so that a number which was given out since is refused too.
 */
const RANGES: Record<string, string> = {
  '1': '900',
  '30': '901 909',
  '31': '900 906 909',
  '32': '90',
  '33': '81 82 89',
  '34': '803 806 807 901 902 905 907',
  '351': '601 607 608 646 648 760 761 762',
  '358': '600 700',
  '36': '90 91',
  '370': '900 902 903 909',
  '371': '90',
  '380': '900',
  '385': '60 61 64 65 69',
  '39': '144 166 892 893 894 895 899',
  '40': '900 901 903 906',
  '41': '900 901 906',
  '420': '900 905 906 908 909 976',
  '421': '900',
  '43': '900 901 930 931 939',
  '44': '84 87 90 91 98',
  '45': '90',
  '46': '900 939 944',
  '47': '820 829',
  '48': '700 701 703 704 706 707 708',
  '49': '900 137 180',
  '52': '900',
  '55': '900',
  '61': '190',
  '62': '809',
  '64': '900',
  '65': '1900',
  '66': '1900',
  '7': '803 809',
  '852': '900',
  '90': '888 898 900',
  '972': '1900 1919',
}

/** In every area code of North America this exchange is for paid announcements. */
const PAID_EXCHANGE = /^\+1[2-9]\d\d976/

/** The forwarding service of Britain, a known bait: it rings like a mobile phone and is charged like a service. */
const PERSONAL = /^\+4470/

const PREFIXES: [prefix: string, kind: CostlyKind][] = [
  ...WORLDWIDE.flatMap(([kind, codes]) => codes.map((code): [string, CostlyKind] => [`+${code}`, kind])),
  ...Object.entries(RANGES).flatMap(([code, ranges]) =>
    ranges.split(' ').map((range): [string, CostlyKind] => [`+${code}${range}`, 'a premium-rate number']),
  ),
]

/** Why the number is never called, or null. */
export function costlyKind({ text, type }: DialledNumber): CostlyKind | null {
  if (type === 'PREMIUM_RATE') return 'a premium-rate number'
  if (type === 'SHARED_COST') return 'a shared-cost number'
  if (PERSONAL.test(text)) return 'a personal number'
  if (PAID_EXCHANGE.test(text)) return 'a premium-rate number'
  return PREFIXES.find(([prefix]) => text.startsWith(prefix))?.[1] ?? null
}

import { LOCALE } from '../../components/locale.ts'

/** As many of what a filter finds are sent again at once. */
const MOST_FOUND = 10_000

/** What came of sending again, in words. `asked`: how many were named; null: a filter named them. */
export function sentText(sent: number, asked: number | null): string {
  const all = sent === 1 ? 'One is sent again.' : `${sent === 0 ? 'None' : sent.toLocaleString(LOCALE)} are sent again.`
  if (asked !== null && sent < asked) return `${all} On the way just now, or not there any more: ${asked - sent}.`
  return asked === null && sent >= MOST_FOUND ? `${all} There may be more: press the button again for the rest.` : all
}

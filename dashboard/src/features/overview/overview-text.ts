import { LOCALE } from '../../components/locale.ts'
import { percentText } from '../../components/percent.ts'
import { DASH } from '../../components/text.ts'

const COUNT = new Intl.NumberFormat(LOCALE)
const SHORT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const PERCENT = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const SECONDS = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 })
const MINUTES = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 })
const SECOND_MS = 1_000

/** A whole number, with marks between its thousands. */
export function countText(count: number): string {
  return COUNT.format(Math.round(count))
}

/** How many of something there are, in figures, for links that show the figure alone have it as their name: `1 call`, `2 calls`. */
export function numberOf(count: number, one: string): string {
  return `${countText(count)} ${one}${count === 1 ? '' : 's'}`
}

/** How many calls there were, and how many of them were answered, as a sentence. */
export function answeredText({ calls, answered }: { calls: number; answered: number }): string {
  if (calls === 0) return 'No calls.'
  if (calls === 1) return answered === 1 ? 'One call, which was answered.' : 'One call, which was not answered.'
  return `${countText(calls)} calls, ${countText(answered)} of them answered.`
}

/** How long calls took together, as exactly as a chart of them shows it. */
export function minutesText(minutes: number): string {
  return MINUTES.format(minutes)
}

/** The same as a sentence. */
export function spokenText(minutes: number): string {
  const text = minutesText(minutes)
  return text === minutesText(1) ? 'One minute was spoken.' : `${text} minutes were spoken.`
}

/** A number in few letters, such as `1.2M`. */
export function shortText(count: number): string {
  return SHORT.format(count)
}

/** A share from 0 to 1 as a percentage; of nothing a dash. */
export function shareText(share: number | null): string {
  return share === null ? DASH : PERCENT.format(share)
}

/** A score from 0 to 1 as a whole percentage, as calls show theirs; of nothing a dash. */
export function scoreText(score: number | null): string {
  return score === null ? DASH : percentText(score)
}

/** A wait, in ms below a second; of nothing a dash. */
export function waitText(ms: number | null): string {
  if (ms === null) return DASH
  return ms < SECOND_MS ? `${Math.round(ms)} ms` : `${SECONDS.format(ms / SECOND_MS)} s`
}

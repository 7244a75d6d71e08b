import { LOCALE } from '../../components/locale.ts'
import { DASH } from '../../components/text.ts'

const FIGURE = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 4 })

/**
 * A figure of a rollout from 0 to 1, to as many digits as scores have: beside a minimum that it misses narrowly, one that is rounded to
 * fewer would keep it. Of nothing a dash.
 */
export function figureText(figure: number | null): string {
  return figure === null ? DASH : FIGURE.format(figure)
}

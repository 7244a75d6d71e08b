import type { ChartData } from './chart-drawing.ts'
import { LOCALE } from './locale.ts'

const TO_THE_MINUTE = {
  ...({ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const),
}
const HOUR = new Intl.DateTimeFormat(LOCALE, TO_THE_MINUTE)
const HOUR_IN_ZONE = new Intl.DateTimeFormat(LOCALE, { ...TO_THE_MINUTE, timeZoneName: 'short' })
const DAY = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric', month: 'short' })
/** No day is so short. */
const DAY_MS = 20 * 3_600_000

/** When a span of a chart begins. An hour that is there twice, as clocks are put back, is told apart by its zone. */
export function spanText({ edges }: Pick<ChartData, 'edges'>, at: number): string {
  const [start = 0, end = 0] = edges.slice(at, at + 2)
  if (end - start > DAY_MS) return DAY.format(start)
  const text = HOUR.format(start)
  const isTwice = [edges[at - 1], end].some((other) => other !== undefined && HOUR.format(other) === text)
  return isTwice ? HOUR_IN_ZONE.format(start) : text
}

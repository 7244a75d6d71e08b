import { invalidRequest } from '../../kernel/errors.ts'
import type { LocalTime } from '../../kernel/local-time.ts'
import { timeZoneFault } from '../../tenancy/tenant-rules.ts'

/** all: the whole range is one span. */
export const INTERVALS = ['hour', 'day', 'all'] as const
export type Interval = (typeof INTERVALS)[number]

/** What figures are asked for. Null: as is usual. */
export type RangeAsk = { interval: Interval; since: Date | null; until: Date | null; timeZone: string }

/** A range in spans: each begins at an edge and ends before the next one. */
export type Spans = { interval: Interval; timeZone: string; edges: Date[] }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const USUAL_DAYS = 7
/**
 * Longer than any day, shorter than two: from the beginning of a day it leads into the next one. Clocks have been put back by three hours.
 */
const INTO_NEXT_DAY_MS = 36 * HOUR_MS
const MAX_DAYS: Record<Interval, number> = { hour: 31, day: 400, all: 400 }
/** Nothing is counted that is older, and clocks were stranger. */
const FIRST_INSTANT = new Date('2000-01-01T00:00:00.000Z')
/** The day around it ends while its instants can still be told. */
const LAST_UNTIL = new Date('9999-12-30T00:00:00.000Z')

/**
 * Cuts a range into the hours or days of a time zone, of which the first and the last are whole. Usually it ends now and has
 * seven days.
 *
 * @throws AppError `invalid_request` for a range that is empty or too long, or an unknown time zone.
 */
export function cutRange(local: LocalTime, ask: RangeAsk, now: Date): Spans {
  const { interval, timeZone } = ask
  const until = ask.until ?? now
  const since = ask.since ?? new Date(until.getTime() - USUAL_DAYS * DAY_MS)
  expectRange(ask, since, until)
  const [fromMs, toMs] = [since.getTime(), until.getTime()]
  const edges = interval === 'day' ? days(local, timeZone, { fromMs, toMs }) : hours(local, timeZone, { fromMs, toMs })
  const ends = interval === 'all' ? [edges[0] ?? fromMs, edges.at(-1) ?? toMs] : edges
  return { interval, timeZone, edges: ends.map((ms) => new Date(ms)) }
}

function expectRange({ interval, timeZone }: RangeAsk, since: Date, until: Date): void {
  const zoneFault = timeZoneFault(timeZone)
  if (zoneFault !== null) throw invalidRequest([{ path: '/query/time_zone', message: zoneFault }])
  const refuse = (message: string) => invalidRequest([{ path: '/query/since', message }])
  if (since >= until) throw refuse('must be before until, which is now when it is not given')
  if (since < FIRST_INSTANT) throw refuse(`must not be before ${FIRST_INSTANT.toISOString()}`)
  if (until > LAST_UNTIL)
    throw invalidRequest([{ path: '/query/until', message: `must not be after ${LAST_UNTIL.toISOString()}` }])
  const most = MAX_DAYS[interval]
  if (until.getTime() - since.getTime() > most * DAY_MS) {
    const advice = interval === 'hour' ? ': ask for fewer hours, or for interval=day' : ''
    throw refuse(`must be at most ${most} days before until with interval=${interval}${advice}`)
  }
}

type Range = { fromMs: number; toMs: number }

function days(local: LocalTime, zone: string, { fromMs, toMs }: Range): number[] {
  const edges = [local.dayStartMs(zone, fromMs)]
  for (let last = edges[0] ?? fromMs; last < toMs; edges.push(last)) {
    last = local.dayStartMs(zone, last + INTO_NEXT_DAY_MS)
  }
  return edges
}

function hours(local: LocalTime, zone: string, { fromMs, toMs }: Range): number[] {
  const first = fromMs - (local.timeOfDayMs(zone, fromMs) % HOUR_MS)
  const count = Math.ceil((toMs - first) / HOUR_MS)
  return Array.from({ length: count + 1 }, (_, i) => first + i * HOUR_MS)
}

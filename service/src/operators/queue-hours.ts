import { LAST_INSTANT_MS } from '../kernel/instants.ts'
import { clockMs, LocalTime } from '../kernel/local-time.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { BusinessHours, QueueSettings, Weekday } from './operator-queue-store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** From the first day of the epoch, a Thursday. */
const WEEKDAYS: Weekday[] = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed']
/** Settings that a queue is given let every task be done within this; a bit more is looked at, for where in a week it begins. */
const REACHED_DAYS = 100
const MAX_DAYS = REACHED_DAYS + 10
/** The day before, for a span over midnight, that of the last instant, and one more: a day in which the clocks skip an hour is shorter. */
const SPARE_DAYS = 3
/** A queue with hours opens each week; where the clocks change an opening may be skipped. */
const WEEKS_MS = 14 * DAY_MS
/** What has waited longer than three years has waited long enough. */
const MAX_LOOK_BACK_DAYS = 1_100
/** Any Thursday. */
const SOME_INSTANT_MS = 7 * DAY_MS

type Zoned = { compliance: Pick<TenantRuntime['compliance'], 'timezone'> }
type Hours = Pick<QueueSettings, 'business_hours' | 'timezone'>

/**
 * By when a task is to be done that is due at an instant: the queue's `sla_minutes` later, of which only those count in which
 * the queue is open. It is an instant that can be told, however late the task is due.
 */
export function slaDueAt(tenant: TenantRuntime, queue: QueueSettings, dueAt: Date): Date {
  return new Date(Math.min(slaDueMs(tenant, queue, dueAt.getTime()), LAST_INSTANT_MS))
}

function slaDueMs(tenant: TenantRuntime, queue: QueueSettings, dueMs: number): number {
  const lengthMs = queue.sla_minutes * MINUTE_MS
  if (queue.business_hours.length === 0) return dueMs + lengthMs
  const spans = openSpans(queue.business_hours, { zone: zoneOf(tenant, queue), fromMs: dueMs, days: MAX_DAYS })
  return passed(spans, dueMs, lengthMs).atMs
}

/** Whether a queue is open for its `sla_minutes` within 100 days. */
export function reachesSla({ business_hours: hours, sla_minutes }: QueueSettings): boolean {
  const spans = openSpans(hours, { zone: 'UTC', fromMs: SOME_INSTANT_MS, days: REACHED_DAYS })
  return hours.length === 0 || passed(spans, SOME_INSTANT_MS, sla_minutes * MINUTE_MS).leftMs === 0
}

/**
 * The last instant, now included, at which the queue was open; null when it was not in the last two weeks. Until then its clock
 * has run.
 */
export function lastOpenAt(tenant: Zoned, queue: Hours, now: Date): Date | null {
  if (queue.business_hours.length === 0) return now
  const nowMs = now.getTime()
  const within = { zone: zoneOf(tenant, queue), fromMs: nowMs - WEEKS_MS, days: WEEKS_MS / DAY_MS + SPARE_DAYS }
  let lastMs: number | null = null
  for (const { startMs, endMs } of openSpans(queue.business_hours, within)) {
    if (startMs >= nowMs) break
    if (endMs > startMs) lastMs = Math.max(lastMs ?? endMs, Math.min(endMs, nowMs))
  }
  return lastMs === null ? null : new Date(lastMs)
}

/** Whether the queue is open. */
export function isOpenAt(tenant: TenantRuntime, queue: QueueSettings, now: Date): boolean {
  if (queue.business_hours.length === 0) return true
  const nowMs = now.getTime()
  const within = { zone: zoneOf(tenant, queue), fromMs: nowMs, days: 3 }
  for (const { startMs, endMs } of openSpans(queue.business_hours, within)) {
    if (startMs <= nowMs && nowMs < endMs) return true
  }
  return false
}

/** Whether the queue was open for so many minutes between two instants. */
export function hasBeenOpen(
  tenant: TenantRuntime,
  queue: QueueSettings,
  { minutes, since, until }: { minutes: number; since: Date; until: Date },
): boolean {
  const [fromMs, untilMs, lengthMs] = [since.getTime(), until.getTime(), minutes * MINUTE_MS]
  if (queue.business_hours.length === 0) return fromMs + lengthMs <= untilMs
  const days = Math.ceil((untilMs - fromMs) / DAY_MS) + SPARE_DAYS
  if (days > MAX_LOOK_BACK_DAYS) return true
  const spans = openSpans(queue.business_hours, { zone: zoneOf(tenant, queue), fromMs, days })
  const { atMs, leftMs } = passed(spans, fromMs, lengthMs)
  return leftMs === 0 && atMs <= untilMs
}

function zoneOf({ compliance }: Zoned, { timezone }: Hours): string {
  return timezone ?? compliance.timezone ?? 'UTC'
}

type Span = { startMs: number; endMs: number }

/** When so much of the spans has passed, and how much there was not. Spans may overlap, in the order of their beginnings. */
function passed(spans: Iterable<Span>, fromMs: number, lengthMs: number): { atMs: number; leftMs: number } {
  let [atMs, leftMs] = [fromMs, lengthMs]
  for (const { startMs, endMs } of spans) {
    atMs = Math.max(atMs, startMs)
    if (endMs - atMs >= leftMs) return { atMs: atMs + leftMs, leftMs: 0 }
    leftMs -= Math.max(0, endMs - atMs)
    atMs = Math.max(atMs, endMs)
  }
  return { atMs, leftMs }
}

type Within = { zone: string; fromMs: number; days: number }

/** When the queue is open, in the order of the beginnings. The first may be over before `fromMs`. */
function* openSpans(hours: BusinessHours[], { zone, fromMs, days }: Within): Generator<Span> {
  const local = new LocalTime()
  const byWeekday = WEEKDAYS.map((weekday) => spansOf(hours, weekday))
  // One over midnight may have begun the day before.
  const firstDay = Math.floor(local.wallMs(zone, fromMs) / DAY_MS) - 1
  const offsets: number[] = []
  const offsetAt = (day: number) => (offsets[day - firstDay] ??= local.instantMs(zone, day * DAY_MS) - day * DAY_MS)
  for (let day = firstDay; day < firstDay + days; day += 1) {
    const offset = offsetAt(day)
    // To ask for each time of day takes long: it is asked for where the clocks change.
    const isEven = offset === offsetAt(day + 2)
    const instant = (wallMs: number) => (isEven ? wallMs + offset : local.instantMs(zone, wallMs))
    for (const { startMs, endMs } of byWeekday[day % WEEKDAYS.length] ?? [])
      yield { startMs: instant(day * DAY_MS + startMs), endMs: instant(day * DAY_MS + endMs) }
  }
}

/** The spans that begin on a day of the week, from its midnight. */
function spansOf(hours: BusinessHours[], weekday: Weekday): Span[] {
  const ofDay = hours.filter(({ days }) => days.includes(weekday)).map(spanOf)
  return ofDay.toSorted((a, b) => a.startMs - b.startMs)
}

function spanOf({ start, end }: BusinessHours): Span {
  const [startMs, endMs] = [clockMs(start), clockMs(end)]
  return { startMs, endMs: endMs > startMs ? endMs : endMs + DAY_MS }
}

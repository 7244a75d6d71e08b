import { othersFirst } from '../kernel/clock.ts'
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
/** What is looked at without a break. */
const LOOK_BACK_DAYS = 20
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
export function lastOpenAt(tenant: Zoned, queue: Hours, now: Date, local = new LocalTime()): Date | null {
  if (queue.business_hours.length === 0) return now
  const nowMs = now.getTime()
  const within = { zone: zoneOf(tenant, queue), fromMs: nowMs - WEEKS_MS, days: WEEKS_MS / DAY_MS + SPARE_DAYS, local }
  let lastMs: number | null = null
  for (const { startMs, endMs } of openSpans(queue.business_hours, within)) {
    if (startMs >= nowMs) break
    if (endMs > startMs) lastMs = Math.max(lastMs ?? endMs, Math.min(endMs, nowMs))
  }
  return lastMs === null ? null : new Date(lastMs)
}

/** Whether the queue is open. */
export function isOpenAt(tenant: Zoned, queue: Hours, now: Date, local = new LocalTime()): boolean {
  if (queue.business_hours.length === 0) return true
  const nowMs = now.getTime()
  const within = { zone: zoneOf(tenant, queue), fromMs: nowMs, days: 3, local }
  for (const { startMs, endMs } of openSpans(queue.business_hours, within)) {
    if (startMs <= nowMs && nowMs < endMs) return true
  }
  return false
}

/**
 * Since when the queue was open for so many minutes until an instant: what has waited since then, or longer, has waited for those. One look
 * back is for all that waits in the queue; it may take 50 ms, in which calls go on.
 */
export async function openFor(
  tenant: Zoned,
  queue: Hours,
  { minutes, until }: { minutes: number; until: Date },
): Promise<Date> {
  let leftMs = minutes * MINUTE_MS
  if (queue.business_hours.length === 0) return new Date(until.getTime() - leftMs)
  const within = { zone: zoneOf(tenant, queue), days: LOOK_BACK_DAYS + SPARE_DAYS, local: new LocalTime() }
  const firstMs = until.getTime() - MAX_LOOK_BACK_DAYS * DAY_MS
  for (let untilMs = until.getTime(); untilMs > firstMs; untilMs -= LOOK_BACK_DAYS * DAY_MS) {
    const fromMs = untilMs - LOOK_BACK_DAYS * DAY_MS
    const back = passedBack(openSpans(queue.business_hours, { ...within, fromMs }), {
      fromMs,
      untilMs,
      lengthMs: leftMs,
    })
    if (back.leftMs === 0) return new Date(back.atMs)
    leftMs = back.leftMs
    await othersFirst()
  }
  return new Date(firstMs)
}

/** Those of the queues that are open. */
export async function openQueues(tenant: Zoned, queues: QueueSettings[], now: Date): Promise<QueueSettings[]> {
  const areOpen = await ofEach(queues, (queue, local) => isOpenAt(tenant, queue, now, local))
  return queues.filter((_queue, at) => areOpen[at])
}

/** What is asked of the hours of each queue, in their order. A tenant may have thousands of queues, and calls go on meanwhile. */
export async function ofEach<Queue, Said>(
  queues: Queue[],
  ask: (queue: Queue, local: LocalTime) => Said,
): Promise<Said[]> {
  const local = new LocalTime()
  const said: Said[] = []
  for (const queue of queues) {
    said.push(ask(queue, local))
    await othersFirst()
  }
  return said
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

/** The same backwards, from `untilMs` to `fromMs`: since when so much of the spans has passed, and how much there was not. */
function passedBack(
  spans: Iterable<Span>,
  { fromMs, untilMs, lengthMs }: { fromMs: number; untilMs: number; lengthMs: number },
): { atMs: number; leftMs: number } {
  const apart: Span[] = []
  let endsMs = fromMs
  for (const span of spans) {
    const [startMs, endMs] = [Math.max(span.startMs, endsMs), Math.min(span.endMs, untilMs)]
    if (startMs >= endMs) continue
    apart.push({ startMs, endMs })
    endsMs = endMs
  }
  let leftMs = lengthMs
  for (const { startMs, endMs } of apart.toReversed()) {
    if (endMs - startMs >= leftMs) return { atMs: endMs - leftMs, leftMs: 0 }
    leftMs -= endMs - startMs
  }
  return { atMs: fromMs, leftMs }
}

/** `local`: one for all that is asked at once, for it takes longer to make than to ask. */
type Within = { zone: string; fromMs: number; days: number; local?: LocalTime }

/** When the queue is open, in the order of the beginnings. The first may be over before `fromMs`. */
function* openSpans(hours: BusinessHours[], { zone, fromMs, days, local = new LocalTime() }: Within): Generator<Span> {
  const byWeekday = WEEKDAYS.map((weekday) => spansOf(hours, weekday))
  // One over midnight may have begun the day before.
  const firstDay = Math.floor(local.wallMs(zone, fromMs) / DAY_MS) - 1
  const offsets: number[] = []
  const newOffset = (day: number) => {
    const [midnight, last] = [day * DAY_MS, offsets[day - firstDay - 1] ?? offsets[day - firstDay - 2]]
    // Mostly as the day before: to see that takes a fourth of the time. Where the clocks show it twice, that is the first.
    const isAsBefore = last !== undefined && local.wallMs(zone, midnight + last) === midnight
    return isAsBefore ? last : local.instantMs(zone, midnight) - midnight
  }
  const offsetAt = (day: number) => (offsets[day - firstDay] ??= newOffset(day))
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

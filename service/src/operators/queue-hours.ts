import { LocalTime } from '../kernel/local-time.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { BusinessHours, QueueSettings, Weekday } from './operator-queue-store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** From the first day of the epoch, a Thursday. */
const WEEKDAYS: Weekday[] = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed']
/** Longer no task waits for its queue to open. */
const MAX_DAYS = 400

/**
 * By when a task is to be done that is due at an instant: the queue's `sla_minutes` later, of which only those count in which
 * the queue is open.
 */
export function slaDueAt({ compliance }: TenantRuntime, queue: QueueSettings, dueAt: Date): Date {
  const lengthMs = queue.sla_minutes * MINUTE_MS
  if (queue.business_hours.length === 0) return new Date(dueAt.getTime() + lengthMs)
  const zone = queue.timezone ?? compliance.timezone ?? 'UTC'
  let atMs = dueAt.getTime()
  let leftMs = lengthMs
  for (const { startMs, endMs } of openSpans(queue.business_hours, zone, atMs)) {
    atMs = Math.max(atMs, startMs)
    if (endMs - atMs >= leftMs) return new Date(atMs + leftMs)
    leftMs -= Math.max(0, endMs - atMs)
    atMs = Math.max(atMs, endMs)
  }
  return new Date(atMs)
}

/** When the queue is open, in the order of the beginnings; spans may overlap. The first may be over before `fromMs`. */
function* openSpans(hours: BusinessHours[], zone: string, fromMs: number) {
  const local = new LocalTime()
  const wallMs = local.wallMs(zone, fromMs)
  // One over midnight may have begun the day before.
  const firstDay = Math.floor(wallMs / DAY_MS) - 1
  for (let day = firstDay; day < firstDay + MAX_DAYS; day += 1) {
    const weekday = WEEKDAYS[day % WEEKDAYS.length]
    const ofDay = hours.filter(({ days }) => days.some((each) => each === weekday))
    const spans = ofDay.map(({ start, end }) => ({ from: timeMs(start), until: timeMs(end) }))
    for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
      const length = until > from ? until - from : until + DAY_MS - from
      const beginMs = day * DAY_MS + from
      yield { startMs: local.instantMs(zone, beginMs), endMs: local.instantMs(zone, beginMs + length) }
    }
  }
}

function timeMs(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE_MS
}

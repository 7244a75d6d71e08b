const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
/** Tenants name zones, and may write one name in many ways. */
const MAX_KEPT = 1_000

/**
 * What the clocks on the wall of a time zone show, by the runtime's own time zone data. It keeps what takes long to make, so
 * one is enough for all who share an owner. Zones are IANA names; every method throws RangeError for one that is unknown.
 */
export class LocalTime {
  readonly #formats = new Map<string, Intl.DateTimeFormat>()

  /** Milliseconds since midnight, as the clocks show them. */
  timeOfDayMs(zone: string, atMs: number): number {
    return modulo(this.wallMs(zone, atMs), DAY_MS)
  }

  /**
   * When the day began that the clocks show. Where summer time begins at midnight, a day may begin at 01:00; where it ends in the
   * first hour, that hour is shown twice, and the day begins with the first.
   */
  dayStartMs(zone: string, atMs: number): number {
    const wall = this.wallMs(zone, atMs)
    const midnight = wall - modulo(wall, DAY_MS)
    const guess = midnight - (wall - atMs)
    // The clocks may have changed since midnight.
    const start = midnight - (this.wallMs(zone, guess) - guess)
    const before = start - 1
    const earlier = midnight - (this.wallMs(zone, before) - before)
    return earlier < start && this.wallMs(zone, earlier) === midnight ? earlier : start
  }

  /** When the clocks show this first, as `wallMs` has it; of a time that they skip, when they do. */
  instantMs(zone: string, wallMs: number): number {
    const offsetAt = (atMs: number) => this.wallMs(zone, atMs) - atMs
    // No zone is more than 14 hours from UTC: what the offset is before that time, and what it is after.
    const [before, after] = [offsetAt(wallMs - DAY_MS), offsetAt(wallMs + DAY_MS)]
    const [first, last] = [wallMs - Math.max(before, after), wallMs - Math.min(before, after)]
    const isShown = (atMs: number) => this.wallMs(zone, atMs) === wallMs
    if (isShown(first)) return first
    return isShown(last) ? last : firstWithin({ fromMs: first, toMs: last }, (atMs) => offsetAt(atMs) === after)
  }

  /** The weekday in English, and what the clocks show with how far that is from UTC: `Tuesday, 2030-01-01T13:00:00+01:00`. */
  written(zone: string, atMs: number): string {
    const wall = this.wallMs(zone, atMs)
    const minutes = Math.round((wall - atMs) / MINUTE_MS)
    const offset = new Date(Math.abs(minutes) * MINUTE_MS).toISOString().slice(11, 16)
    const weekday = WEEKDAYS[new Date(wall).getUTCDay()] ?? ''
    return `${weekday}, ${new Date(wall).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${offset}`
  }

  /** Milliseconds since the epoch as if the clocks showed UTC. */
  wallMs(zone: string, atMs: number): number {
    const parts = this.#formatOf(zone).formatToParts(atMs)
    const field = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
    const wall = new Date(atMs)
    const month = field('month') - 1
    // No zone is more than about a day from UTC. What is shown of a year is not asked for: it has no era, and two digits are taken for 19….
    const months = month - wall.getUTCMonth()
    const year = wall.getUTCFullYear() + (months > 1 ? -1 : months < -1 ? 1 : 0)
    wall.setUTCFullYear(year, month, field('day'))
    return wall.setUTCHours(field('hour'), field('minute'), field('second'))
  }

  #formatOf(zone: string): Intl.DateTimeFormat {
    const known = this.#formats.get(zone)
    if (known) return known
    const made = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      ...{ timeZone: zone, hourCycle: 'h23', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
    if (this.#formats.size >= MAX_KEPT) this.#formats.clear()
    this.#formats.set(zone, made)
    return made
  }
}

/** The first instant, to the millisecond, behind `fromMs` and until `toMs` at which something is so that is then on. */
function firstWithin({ fromMs, toMs }: { fromMs: number; toMs: number }, isSo: (atMs: number) => boolean): number {
  let [no, yes] = [fromMs, toMs]
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (isSo(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** A time of the day, `HH:MM`, in milliseconds since midnight. */
export function clockMs(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE_MS
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

import { clockMs } from '../kernel/local-time.ts'

/** The span of the day in which calls may be made: `HH:MM`, from `start` on, until before `end`; it may go over midnight. */
export type CallingHours = { start: string; end: string }

/** What dispatch and campaigns keep when the tenant sets nothing. */
export const USUAL_HOURS: CallingHours = { start: '08:00', end: '21:00' }

const MINUTE_MS = 60_000

/** Whether calls may be made at a time of the day, in milliseconds since midnight. */
export function isWithin({ start, end }: CallingHours, atMs: number): boolean {
  const [startMs, endMs] = [clockMs(start), clockMs(end)]
  return startMs < endMs ? startMs <= atMs && atMs < endMs : startMs <= atMs || atMs < endMs
}

/** Whether some time of the day is within all of them. */
export function haveCommonTime(all: readonly CallingHours[]): boolean {
  // What they have in common begins where one of them does.
  return all.some(({ start }) => all.every((each) => isWithin(each, clockMs(start))))
}

/**
 * The first of the zones in which calls may not be made now; null when they may be in all.
 *
 * @param timeIn what time of the day it is in a zone, in milliseconds since midnight.
 */
export function closedZone(
  hours: CallingHours,
  zones: readonly string[],
  timeIn: (zone: string) => number,
): string | null {
  return zones.find((zone) => !isWithin(hours, timeIn(zone))) ?? null
}

/** A time of the day as `HH:MM`. */
export function clockText(timeMs: number): string {
  const minutes = Math.floor(timeMs / MINUTE_MS)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

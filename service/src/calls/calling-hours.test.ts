import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LocalTime } from '../kernel/local-time.ts'
import { clockText, closedZone, haveCommonTime, isWithin, USUAL_HOURS } from './calling-hours.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

const at = (time: string) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE_MS
}

describe('calling hours', () => {
  it.each([
    ['08:00', '21:00', '07:59', false],
    ['08:00', '21:00', '08:00', true],
    ['08:00', '21:00', '20:59', true],
    ['08:00', '21:00', '21:00', false],
    ['00:00', '24:00', '00:00', true],
    ['00:00', '24:00', '23:59', true],
    ['18:00', '24:00', '23:59', true],
    ['18:00', '24:00', '00:00', false],
    // Over midnight.
    ['22:00', '06:00', '21:59', false],
    ['22:00', '06:00', '22:00', true],
    ['22:00', '06:00', '00:00', true],
    ['22:00', '06:00', '05:59', true],
    ['22:00', '06:00', '06:00', false],
    ['22:00', '00:00', '23:59', true],
    ['22:00', '00:00', '00:00', false],
  ])('from %s to %s are open at %s: %s', (start, end, time, expected) => {
    expect(isWithin({ start, end }, at(time))).toBe(expected)
  })

  it('last to the last millisecond before their end', () => {
    expect(isWithin(USUAL_HOURS, at('21:00') - 1)).toBe(true)
    expect(isWithin(USUAL_HOURS, at('08:00') - 1)).toBe(false)
  })

  it('and the hours between their end and their start make up the day', () => {
    const minute = fc.integer({ min: 0, max: DAY_MINUTES - 1 })
    fc.assert(
      fc.property(minute, minute, minute, (a, b, now) => {
        fc.pre(a !== b)
        const [start, end] = [clockText(a * MINUTE_MS), clockText(b * MINUTE_MS)]
        const nowMs = now * MINUTE_MS
        expect(isWithin({ start, end }, nowMs)).toBe(!isWithin({ start: end, end: start }, nowMs))
        // Walked from the start, the end comes after the moment.
        const sinceStart = (now - a + DAY_MINUTES) % DAY_MINUTES
        expect(isWithin({ start, end }, nowMs)).toBe(sinceStart < (b - a + DAY_MINUTES) % DAY_MINUTES)
      }),
    )
  })
})

describe('several spans of hours', () => {
  const minute = fc.integer({ min: 0, max: DAY_MINUTES - 1 })
  const hours = fc
    .tuple(minute, minute)
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => ({ start: clockText(a * MINUTE_MS), end: clockText(b * MINUTE_MS) }))
  const minutesMs = Array.from({ length: DAY_MINUTES }, (_, n) => n * MINUTE_MS)

  it('have a time in common where some minute of the day is within them all', () => {
    fc.assert(
      fc.property(fc.array(hours, { minLength: 1, maxLength: 3 }), (all) => {
        expect(haveCommonTime(all)).toBe(minutesMs.some((ms) => all.every((each) => isWithin(each, ms))))
      }),
    )
  })
})

describe('over several zones', () => {
  const local = new LocalTime()
  const closed = (zones: string[], now: string) =>
    closedZone(USUAL_HOURS, zones, (zone) => local.timeOfDayMs(zone, Date.parse(now)))

  it.each([
    // Summer time moves the hours: 08:00 in Berlin is 07:00 UTC in winter and 06:00 in summer.
    [['Europe/Berlin'], '2026-03-28T06:59:59Z', 'Europe/Berlin'],
    [['Europe/Berlin'], '2026-03-28T07:00:00Z', null],
    [['Europe/Berlin'], '2026-03-29T05:59:59Z', 'Europe/Berlin'],
    [['Europe/Berlin'], '2026-03-29T06:00:00Z', null],
    [['Europe/Berlin'], '2026-10-25T06:59:59Z', 'Europe/Berlin'],
    [['Europe/Berlin'], '2026-10-25T07:00:00Z', null],
    [['Europe/Berlin'], '2026-10-25T19:59:59Z', null],
    [['Europe/Berlin'], '2026-10-25T20:00:00Z', 'Europe/Berlin'],
    // It must be open in every one.
    [['America/New_York', 'America/Chicago'], '2026-07-01T12:30:00Z', 'America/Chicago'],
    [['America/New_York', 'America/Chicago'], '2026-07-01T13:00:00Z', null],
    [['America/New_York', 'America/Chicago'], '2026-07-02T00:59:59Z', null],
    [['America/New_York', 'America/Chicago'], '2026-07-02T01:00:00Z', 'America/New_York'],
    [[], '2026-07-02T01:00:00Z', null],
  ])('%j at %s: %s', (zones, now, expected) => {
    expect(closed(zones, now)).toBe(expected)
  })
})

it('writes a time of the day', () => {
  expect([0, at('09:05'), at('23:59') + 59_999].map(clockText)).toEqual(['00:00', '09:05', '23:59'])
})

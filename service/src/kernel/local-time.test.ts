import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LocalTime } from './local-time.ts'

const HOUR_MS = 3_600_000
const local = new LocalTime()
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'],
  ...['Australia/Lord_Howe', 'Africa/Cairo', 'Africa/Casablanca', 'America/Havana', 'America/Santiago', 'Asia/Beirut'],
]

function hoursOfDay(zone: string, at: string): number {
  return local.timeOfDayMs(zone, Date.parse(at)) / HOUR_MS
}

describe('the time of the day', () => {
  it.each([
    ['UTC', '2026-06-01T10:30:00Z', 10.5],
    ['Europe/Berlin', '2026-01-15T10:30:00Z', 11.5],
    ['Europe/Berlin', '2026-07-15T10:30:00Z', 12.5],
    ['Europe/Berlin', '2026-07-15T22:00:00Z', 0],
    // Clocks go forward at 01:00 UTC and back at 01:00 UTC.
    ['Europe/Berlin', '2026-03-29T00:59:59Z', 2 - 1 / 3600],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', 3],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', 2.5],
    ['Europe/Berlin', '2026-10-25T01:30:00Z', 2.5],
    ['America/New_York', '2026-03-08T07:00:00Z', 3],
    ['America/Phoenix', '2026-07-01T07:00:00Z', 0],
    ['Asia/Kathmandu', '2026-07-01T00:00:00Z', 5.75],
    ['Pacific/Kiritimati', '2026-07-01T10:00:00Z', 0],
    ['America/St_Johns', '2026-07-01T00:00:00Z', 21.5],
  ])('in %s at %s is %d h', (zone, at, expected) => {
    expect(hoursOfDay(zone, at)).toBeCloseTo(expected, 9)
  })

  it('has milliseconds', () => {
    expect(local.timeOfDayMs('Europe/Berlin', Date.parse('2026-01-01T00:00:00.007Z'))).toBe(HOUR_MS + 7)
  })

  it('knows no unknown zone', () => {
    expect(() => local.timeOfDayMs('Mars/Olympus', 0)).toThrow(RangeError)
  })
})

describe('what the clocks show', () => {
  it.each([
    ['UTC', '0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
    ['UTC', '0050-06-01T10:30:00.007Z', '0050-06-01T10:30:00.007Z'],
    ['Etc/GMT+5', '0001-01-01T00:00:00.000Z', '0000-12-31T19:00:00.000Z'],
    ['Etc/GMT-5', '0099-12-31T23:59:59.999Z', '0100-01-01T04:59:59.999Z'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['America/New_York', '2027-01-01T04:59:59.999Z', '2026-12-31T23:59:59.999Z'],
    ['Pacific/Kiritimati', '9999-12-31T23:59:59.999Z', '+010000-01-01T13:59:59.999Z'],
    ['Europe/Berlin', '2028-02-29T23:30:00.000Z', '2028-03-01T00:30:00.000Z'],
  ])('in %s at %s is %s', (zone, at, shown) => {
    expect(new Date(local.wallMs(zone, Date.parse(at))).toISOString()).toBe(shown)
  })
})

describe('what the clocks show in words', () => {
  it.each([
    ['UTC', '2030-01-01T00:00:00Z', 'Tuesday, 2030-01-01T00:00:00+00:00'],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', 'Sunday, 2026-10-25T02:30:00+02:00'],
    ['Europe/Berlin', '2026-10-25T01:30:00.999Z', 'Sunday, 2026-10-25T02:30:00+01:00'],
    ['America/St_Johns', '2026-07-01T00:00:00Z', 'Tuesday, 2026-06-30T21:30:00-02:30'],
    ['Asia/Kathmandu', '2026-12-31T23:00:00Z', 'Friday, 2027-01-01T04:45:00+05:45'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', 'Friday, 2027-01-01T00:00:00+14:00'],
  ])('in %s at %s is %s, which is the same instant', (zone, at, shown) => {
    expect(local.written(zone, Date.parse(at))).toBe(shown)
    expect(Date.parse(shown.replace(/^.*, /, ''))).toBe(Math.floor(Date.parse(at) / 1_000) * 1_000)
  })
})

describe('the start of the day', () => {
  it.each([
    ['UTC', '2026-06-01T10:30:00Z', '2026-06-01T00:00:00Z'],
    ['Europe/Berlin', '2026-06-01T22:00:00Z', '2026-06-01T22:00:00Z'],
    ['Europe/Berlin', '2026-06-01T21:59:59Z', '2026-05-31T22:00:00Z'],
    // The clocks have changed since midnight.
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z'],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z'],
    ['America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z'],
    // There is no midnight: the day begins at 01:00.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z'],
    // Midnight comes twice: the first one counts.
    ['America/Havana', '2034-11-05T05:00:00Z', '2034-11-05T04:00:00Z'],
    ['America/Havana', '2034-11-05T04:30:00Z', '2034-11-05T04:00:00Z'],
    ['America/Havana', '2034-11-06T04:30:00Z', '2034-11-05T04:00:00Z'],
    ['Pacific/Kiritimati', '2026-07-01T09:00:00Z', '2026-06-30T10:00:00Z'],
  ])('in %s at %s is %s', (zone, at, expected) => {
    expect(new Date(local.dayStartMs(zone, Date.parse(at))).toISOString()).toBe(new Date(expected).toISOString())
  })

  it('is the first instant of the day that the clocks show', () => {
    const instant = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2037, 0) })
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), instant, (zone, atMs) => {
        const dateAt = (ms: number) => new Date(ms).toLocaleDateString('en-CA', { timeZone: zone })
        const start = local.dayStartMs(zone, atMs)
        expect(start).toBeLessThanOrEqual(atMs)
        expect(dateAt(start)).toBe(dateAt(atMs))
        expect(dateAt(start - 1)).not.toBe(dateAt(atMs))
      }),
      { numRuns: 500 },
    )
  })
})

describe('when the clocks show a time', () => {
  it.each([
    ['UTC', '2026-06-01T10:30:00Z', '2026-06-01T10:30:00Z'],
    ['Europe/Berlin', '2026-06-01T10:30:00Z', '2026-06-01T08:30:00Z'],
    // They skip it: it is when they do.
    ['Europe/Berlin', '2026-03-29T02:30:00Z', '2026-03-29T01:00:00Z'],
    ['America/Santiago', '2026-09-06T00:00:00Z', '2026-09-06T04:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:15:00Z', '2026-10-03T15:30:00Z'],
    // They show it twice: the first counts.
    ['Europe/Berlin', '2026-10-25T02:30:00Z', '2026-10-25T00:30:00Z'],
    ['America/Havana', '2034-11-05T00:00:00Z', '2034-11-05T04:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-05T01:45:00Z', '2026-04-04T14:45:00Z'],
  ])('in %s %s is %s', (zone, shown, expected) => {
    expect(new Date(local.instantMs(zone, Date.parse(shown))).toISOString()).toBe(new Date(expected).toISOString())
  })

  it('is the first instant at which they show it or, after one that they skip, a later one', () => {
    const QUARTER_MS = HOUR_MS / 4
    const quarter = fc.integer({ min: Date.UTC(2025, 0) / QUARTER_MS, max: Date.UTC(2037, 0) / QUARTER_MS })
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), quarter, (zone, quarters) => {
        const wallMs = quarters * QUARTER_MS
        const around = Array.from({ length: 120 }, (_, at) => wallMs - 15 * HOUR_MS + at * QUARTER_MS)
        expect(local.instantMs(zone, wallMs)).toBe(around.find((ms) => local.wallMs(zone, ms) >= wallMs))
      }),
      { numRuns: 500 },
    )
  })
})

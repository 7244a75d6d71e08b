import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { growth } from '../../test/harness/growth.ts'
import type { TenantId } from '../kernel/ids.ts'
import { clockMs, LocalTime } from '../kernel/local-time.ts'
import { NO_ACCOUNT } from '../tenancy/no-account.fixture.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { type BusinessHours, QUEUE_DEFAULTS, type QueueSettings, type Weekday } from './operator-queue-store.ts'
import { isOpenAt, lastOpenAt, openFor, reachesSla, slaDueAt } from './queue-hours.ts'

const EVERY_DAY: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const WORKDAYS = EVERY_DAY.slice(0, 5)
const TENANT = toRuntime({ tenant_id: 'acme' as TenantId, compliance: { timezone: 'Europe/Berlin' } }, NO_ACCOUNT)

/** By when a task is to be done that is due at an instant, in a queue with an hour for it. */
function due(at: string, business_hours: BusinessHours[], facts: Partial<QueueSettings> = {}): string {
  const queue = { ...QUEUE_DEFAULTS, queue_key: 'sales', sla_minutes: 60, business_hours, ...facts }
  return slaDueAt(TENANT, queue, new Date(at)).toISOString()
}

describe('a queue is open', () => {
  const QUARTER_MS = 900_000
  const DAY_MS = 86_400_000
  /** When clocks change, and where. */
  const CHANGES: [zone: string, at: string][] = [
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['America/Santiago', '2026-04-05T03:00:00Z'],
    ['America/Santiago', '2026-09-06T04:00:00Z'],
    ['America/Havana', '2026-03-08T05:00:00Z'],
    ['America/Havana', '2026-11-01T05:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ]
  const local = new LocalTime()

  /** By another way: whether the clocks have shown a beginning, of this day or the one before, and not its end. */
  function isBegun(hours: BusinessHours[], zone: string, atMs: number): boolean {
    const past = Array.from({ length: 9 }, (_, n) => local.wallMs(zone, atMs - n * QUARTER_MS))
    const shownMs = Math.max(...past)
    const midnight = shownMs - (shownMs % DAY_MS)
    return [midnight - DAY_MS, midnight].some((dayMs) => {
      const weekday = EVERY_DAY[(new Date(dayMs).getUTCDay() + 6) % 7]
      return hours.some(({ days, start, end }) => {
        const endMs = clockMs(end) + (end > start ? 0 : DAY_MS)
        return days.some((day) => day === weekday) && dayMs + clockMs(start) <= shownMs && shownMs < dayMs + endMs
      })
    })
  }

  it('from when the clocks show the beginning first until they show the end, also where they change', () => {
    const time = fc.integer({ min: 0, max: 95 }).map((at) => new Date(at * QUARTER_MS).toISOString().slice(11, 16))
    const span = fc
      .record({
        days: fc.subarray(EVERY_DAY, { minLength: 1 }),
        start: time,
        end: fc.oneof(time, fc.constant('24:00')),
      })
      .filter(({ start, end }) => start !== end)
    const spans = fc.array(span, { minLength: 1, maxLength: 3 })
    const quarter = fc.integer({ min: -120, max: 120 })
    fc.assert(
      fc.property(spans, fc.constantFrom(...CHANGES), quarter, (business_hours, [timezone, change], quarters) => {
        const atMs = Date.parse(change) + quarters * QUARTER_MS
        const queue = { ...QUEUE_DEFAULTS, queue_key: 'sales', business_hours, timezone }
        expect(isOpenAt(TENANT, queue, new Date(atMs))).toBe(isBegun(business_hours, timezone, atMs))
      }),
      { numRuns: 500 },
    )
  })
})

describe('since when a queue was open for so many minutes', () => {
  const hours = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
  const span = fc
    .record({
      days: fc.subarray(EVERY_DAY, { minLength: 1 }),
      start: fc.constantFrom(...hours(0, 24)).map((hour) => `${String(hour).padStart(2, '0')}:30`),
      end: fc.constantFrom(...hours(0, 24)).map((hour) => `${String(hour).padStart(2, '0')}:10`),
    })
    .filter(({ start, end }) => start !== end)

  it('is the last instant since which that is over, also where the clocks change', async () => {
    const until = fc.integer({ min: 0, max: 400 * 24 }).map((hour) => new Date(Date.UTC(2026, 0, 1, hour)))
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Antarctica/Casey')
    // What takes longer than a queue may be given for a task, `slaDueAt` does not find.
    const minutes = fc.integer({ min: 1, max: 500 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(span, { minLength: 1, maxLength: 3 }),
        zone,
        minutes,
        until,
        async (business_hours, timezone, sla_minutes, at) => {
          const queue = { ...QUEUE_DEFAULTS, queue_key: 'sales', business_hours, timezone, sla_minutes }
          const since = await openFor(TENANT, queue, { minutes: sla_minutes, until: at })
          const isOver = (fromMs: number) => slaDueAt(TENANT, queue, new Date(fromMs)) <= at
          expect([isOver(since.getTime()), isOver(since.getTime() + 1)]).toEqual([true, false])
        },
      ),
      { numRuns: 200 },
    )
  })

  it('is by the clock without hours, and three years ago where it was never open for so long', async () => {
    const until = new Date('2026-01-28T10:00:00.000Z')
    const minute = [{ days: ['mon' as const], start: '09:00', end: '09:01' }]
    const since = async (business_hours: BusinessHours[]) =>
      (await openFor(TENANT, { business_hours, timezone: 'UTC' }, { minutes: 525_600, until })).toISOString()
    expect(await since([])).toBe('2025-01-28T10:00:00.000Z')
    expect(await since(minute)).toBe('2023-01-24T10:00:00.000Z')
  })
})

describe('by when a task is to be done', () => {
  const office = [{ days: WORKDAYS, start: '09:00', end: '17:00' }]

  it.each([
    ['within the hours', '2026-01-28T10:00:00.000Z', '2026-01-28T11:00:00.000Z'],
    ['to their end', '2026-01-28T15:00:00.000Z', '2026-01-28T16:00:00.000Z'],
    ['over their end', '2026-01-28T15:30:00.000Z', '2026-01-29T08:30:00.000Z'],
    ['before they begin', '2026-01-28T03:00:00.000Z', '2026-01-28T09:00:00.000Z'],
    ['over a weekend', '2026-01-30T15:30:00.000Z', '2026-02-02T08:30:00.000Z'],
    ['over a weekend in which the clocks change', '2026-03-27T15:30:00.000Z', '2026-03-30T07:30:00.000Z'],
  ])('counts %s', (_what, at, expected) => expect(due(at, office)).toBe(expected))

  it('counts in the zone of the queue, if it has one', () => {
    expect(due('2026-01-28T10:00:00.000Z', office, { timezone: 'America/New_York' })).toBe('2026-01-28T15:00:00.000Z')
  })

  it('counts over midnight, also where the day before had begun it', () => {
    const night = [{ days: ['fri' as const], start: '22:00', end: '06:00' }]
    expect(due('2026-01-30T22:30:00.000Z', night)).toBe('2026-01-30T23:30:00.000Z')
    expect(due('2026-01-31T04:30:00.000Z', night)).toBe('2026-02-06T21:30:00.000Z')
  })

  it.each([
    ['begin to be summer time', '2026-03-29T04:00:00.000Z', '2026-03-29T08:00:00.000Z'],
    ['end to be summer time', '2026-10-25T04:00:00.000Z', '2026-10-25T09:00:00.000Z'],
  ])('counts by the time that it is then on the day on which the clocks %s', (_what, at, expected) => {
    expect(due(at, [{ days: EVERY_DAY, start: '09:00', end: '17:00' }])).toBe(expected)
  })

  it.each([
    // Midnight is skipped: the hour before it is the last one of the day.
    ['America/Santiago', '15:00-24:00', '2026-09-06T03:00:00.000Z', '2026-09-06T04:00:00.000Z'],
    // The time at which it opens is skipped.
    ['Europe/Berlin', '02:30-06:00', '2026-03-29T00:00:00.000Z', '2026-03-29T02:00:00.000Z'],
    // The time at which it opens comes twice.
    ['Europe/Berlin', '02:30-06:00', '2026-10-25T00:00:00.000Z', '2026-10-25T01:30:00.000Z'],
  ])('counts by what the clocks show where they change, in %s open %s', (timezone, hours, at, expected) => {
    const [start = '', end = ''] = hours.split('-')
    expect(due(at, [{ days: EVERY_DAY, start, end }], { timezone })).toBe(expected)
  })

  it('has passed as soon as it is over, also where the clocks skip an hour of the day before', async () => {
    const business_hours = [{ days: EVERY_DAY, start: '00:00', end: '00:10' }]
    const queue = { ...QUEUE_DEFAULTS, queue_key: 'sales', sla_minutes: 20, business_hours }
    const [since, atMs] = [new Date('2026-03-28T22:30:00.000Z'), Date.parse('2026-03-29T22:10:00.000Z')]
    expect(slaDueAt(TENANT, queue, since).getTime()).toBe(atMs)
    const isOver = async (untilMs: number) =>
      since <= (await openFor(TENANT, queue, { minutes: 20, until: new Date(untilMs) }))
    expect([await isOver(atMs - 1), await isOver(atMs)]).toEqual([false, true])
  })

  it('has not passed while its queue has been open until now, also in the two weeks after clocks skip an hour', () => {
    const now = new Date('2026-04-04T22:30:00.000Z')
    const queue = { timezone: 'Europe/Berlin', business_hours: [{ days: EVERY_DAY, start: '00:00', end: '24:00' }] }
    expect(lastOpenAt(TENANT, queue, now)).toEqual(now)
  })

  it('counts no minute twice where spans overlap', () => {
    const twice = [...office, { days: WORKDAYS, start: '16:00', end: '18:00' }]
    expect(due('2026-01-28T15:30:00.000Z', twice)).toBe('2026-01-28T16:30:00.000Z')
    expect(due('2026-01-28T16:30:00.000Z', twice)).toBe('2026-01-29T08:30:00.000Z')
  })

  it('counts always without hours, and through whole days', () => {
    expect(due('2026-01-31T23:30:00.000Z', [])).toBe('2026-02-01T00:30:00.000Z')
    const always = [{ days: EVERY_DAY, start: '00:00', end: '24:00' }]
    expect(due('2026-01-28T22:30:00.000Z', always)).toBe('2026-01-28T23:30:00.000Z')
  })

  it.each([
    ['always', []],
    ['in its hours', office],
  ])('is an instant that can be told, however late the task is due, in a queue that is open %s', (_what, hours) => {
    expect(due('9999-12-31T23:59:00.000Z', hours)).toBe('9999-12-31T23:59:59.999Z')
  })

  it('ends where a queue hardly ever opens', () => {
    const minute = [{ days: ['mon' as const], start: '09:00', end: '09:01' }]
    const asked = due('2026-01-28T10:00:00.000Z', minute, { sla_minutes: 43_200 })
    expect(Date.parse(asked)).toBeGreaterThan(Date.parse('2026-05-01T00:00:00.000Z'))
    const settings = { ...QUEUE_DEFAULTS, queue_key: 'sales', business_hours: minute }
    expect([14, 15].map((sla_minutes) => reachesSla({ ...settings, sla_minutes }))).toEqual([true, false])
  })

  it('is soon found out, however often the queue opens', () => {
    const two = (n: number) => String(n).padStart(2, '0')
    const times = Array.from({ length: 52 }, (_, n) => `${two(Math.floor(n / 3))}:${two((n % 3) * 20)}`)
    const hours = times.map((start) => ({ days: EVERY_DAY, start, end: start.replace(/.$/, '1') }))
    const longest = { sla_minutes: 43_200 }
    const lookUp = (openings: number) => {
      for (let n = 0; n < 10; n += 1) due('2026-01-28T10:00:00.000Z', hours.slice(0, openings), longest)
    }
    lookUp(hours.length)
    // What takes long is asked once a day, whatever opens on it.
    expect(growth(lookUp, hours.length)).toBeLessThan(2.5)
  })
})

import { describe, expect, it } from 'vitest'
import { growth } from '../../test/harness/growth.ts'
import type { TenantId } from '../kernel/ids.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { type BusinessHours, QUEUE_DEFAULTS, type QueueSettings, type Weekday } from './operator-queue-store.ts'
import { reachesSla, slaDueAt } from './queue-hours.ts'

const EVERY_DAY: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const WORKDAYS = EVERY_DAY.slice(0, 5)
const NO_ACCOUNT = { account_sid: null, auth_token: null, from_number: null }

/** By when a task is to be done that is due at an instant, in a queue with an hour for it. */
function due(at: string, business_hours: BusinessHours[], facts: Partial<QueueSettings> = {}): string {
  const tenant = toRuntime({ tenant_id: 'acme' as TenantId, compliance: { timezone: 'Europe/Berlin' } }, NO_ACCOUNT)
  const queue = { ...QUEUE_DEFAULTS, queue_key: 'sales', sla_minutes: 60, business_hours, ...facts }
  return slaDueAt(tenant, queue, new Date(at)).toISOString()
}

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

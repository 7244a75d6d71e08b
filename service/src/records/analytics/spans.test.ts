import { describe, expect, it } from 'vitest'
import { LocalTime } from '../../kernel/local-time.ts'
import { cutRange, type Interval } from './spans.ts'

const local = new LocalTime()
const NOW = new Date('2026-03-31T10:20:00.000Z')
const at = (text: string | null) => (text === null ? null : new Date(text))

function edges(interval: Interval, timeZone: string, since: string | null, until: string | null = null): string[] {
  const spans = cutRange(local, { interval, timeZone, since: at(since), until: at(until) }, NOW)
  return spans.edges.map((edge) => edge.toISOString().slice(0, 16))
}

describe('the spans of a range', () => {
  it('are whole days of the zone, of 23 or 25 hours where the clocks change', () => {
    expect(edges('day', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T08:00:00Z')).toEqual([
      ...['2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00', '2026-03-30T22:00'],
    ])
    expect(edges('day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-26T08:00:00Z')).toEqual([
      ...['2026-10-24T22:00', '2026-10-25T23:00', '2026-10-26T23:00'],
    ])
    expect(edges('day', 'Asia/Kathmandu', '2026-03-30T00:00:00Z', '2026-03-30T00:01:00Z')).toEqual([
      ...['2026-03-29T18:15', '2026-03-30T18:15'],
    ])
    // In Santiago a summer day begins at 01:00, because midnight is skipped.
    const days = edges('day', 'America/Santiago', '2026-01-01T12:00:00Z', '2026-12-31T12:00:00Z')
    expect(days).toHaveLength(366)
  })

  it.each([
    [
      'of 27 hours',
      'Antarctica/Casey',
      ['2023-03-07T13:00', '2023-03-08T13:00', '2023-03-09T16:00', '2023-03-10T16:00'],
    ],
    ['of 21 hours', 'Antarctica/Casey', ['2018-10-06T16:00', '2018-10-07T13:00', '2018-10-08T13:00']],
    ['that there was not', 'Pacific/Apia', ['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00']],
  ])('come to their end with a day %s', (_what, zone, days) => {
    const [first = '', last = ''] = [days[0], days.at(-1)]
    expect(edges('day', zone, `${first}Z`, `${last}Z`)).toEqual(days)
  })

  it('are whole hours, as the clocks of the zone show them', () => {
    expect(edges('hour', 'UTC', '2026-03-31T08:59:00Z')).toEqual([
      ...['2026-03-31T08:00', '2026-03-31T09:00', '2026-03-31T10:00', '2026-03-31T11:00'],
    ])
    expect(edges('hour', 'Asia/Kolkata', '2026-03-31T09:35:00Z')).toEqual(['2026-03-31T09:30', '2026-03-31T10:30'])
    expect(edges('hour', 'UTC', '2026-03-31T08:00:00Z', '2026-03-31T09:00:00Z')).toHaveLength(2)
  })

  it('are one in all with all, and seven days when nothing is said', () => {
    expect(edges('all', 'UTC', '2026-03-01T00:30:00Z')).toEqual(['2026-03-01T00:00', '2026-03-31T11:00'])
    expect(edges('day', 'UTC', null)).toHaveLength(9)
  })

  it('can be told to the last day that may be asked for', () => {
    const last = ['9999-12-29T00:00:00Z', '9999-12-30T00:00:00Z'] as const
    expect(edges('day', 'Pacific/Kiritimati', ...last).at(-1)).toBe('9999-12-30T10:00')
    expect(edges('day', 'Pacific/Pago_Pago', ...last).at(-1)).toBe('9999-12-30T11:00')
  })

  it.each<[string, [Interval, string, string, string | null]]>([
    ['is empty', ['day', 'UTC', '2026-03-31T10:20:00Z', null]],
    ['is too long for hours', ['hour', 'UTC', '2026-02-01T00:00:00Z', null]],
    ['is too long for days', ['day', 'UTC', '2024-01-01T00:00:00Z', null]],
    ['is before everything', ['day', 'UTC', '1999-12-31T00:00:00Z', '2000-01-02T00:00:00Z']],
    ['is after everything', ['hour', 'UTC', '9999-12-30T00:00:00Z', '9999-12-31T23:59:59Z']],
    ['is of a zone that is none', ['day', 'Mars/Base', '2026-03-31T00:00:00Z', null]],
  ])('are refused where the range %s', (_why, range) => {
    expect(() => edges(...range)).toThrow(/^(since|until|time_zone) must/)
  })
})

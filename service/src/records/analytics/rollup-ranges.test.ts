import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LocalTime } from '../../kernel/local-time.ts'
import { HOUR_MINUTES, rangesOf } from './rollup-ranges.ts'
import { cutRange } from './spans.ts'

const MINUTE_MS = 60_000
const local = new LocalTime()
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe']

function edgesOf(timeZone: string, since: string, until: string, interval: 'hour' | 'day' | 'all' = 'day') {
  const ask = { interval, since: new Date(since), until: new Date(until), timeZone }
  return cutRange(local, ask, new Date(until)).edges
}

const minutesOf = (timeZone: string, day: string) =>
  rangesOf(edgesOf(timeZone, `${day}T12:00:00Z`, `${day}T12:00:01Z`)).map(({ minutes, from, to }) =>
    minutes > HOUR_MINUTES ? [minutes] : [minutes, (to.getTime() - from.getTime()) / MINUTE_MS / minutes],
  )

describe('the roll-ups of spans', () => {
  it('are of all times between the edges, each once and each within one span', () => {
    const someStart = fc.integer({ min: Date.UTC(2029, 0), max: Date.UTC(2031, 0) })
    const days = fc.integer({ min: 1, max: 31 })
    fc.assert(
      fc.property(
        someStart,
        days,
        fc.constantFrom(...zones),
        fc.constantFrom('hour', 'day', 'all'),
        (ms, n, zone, interval) => {
          const [since, until] = [ms, ms + n * 1_440 * MINUTE_MS].map((each) => new Date(each).toISOString())
          const edges = edgesOf(zone, since ?? '', until ?? '', interval)
          const ranges = rangesOf(edges)
          const [first, last] = [edges[0], edges.at(-1)]
          expect([ranges[0]?.from, ranges.at(-1)?.to]).toEqual([first, last])
          for (const [at, { minutes, from, to }] of ranges.entries()) {
            if (at > 0) expect(from).toEqual(ranges[at - 1]?.to)
            expect((to.getTime() - from.getTime()) % (minutes * MINUTE_MS)).toBe(0)
            // A short one is cut at each of its steps, so that only a long one could hold an edge.
            if (minutes > HOUR_MINUTES) expect(edges.filter((edge) => edge > from && edge < to)).toEqual([])
          }
        },
      ),
    )
  })

  it('are one of a day in UTC, and few of the days of other zones, also when their clocks change', () => {
    expect(minutesOf('UTC', '2030-03-31')).toEqual([[1_440]])
    expect(minutesOf('Europe/Berlin', '2030-03-30')).toEqual([[1_380], [60, 1]])
    expect(minutesOf('Europe/Berlin', '2030-03-31')).toEqual([[1_380]])
    expect(minutesOf('Europe/Berlin', '2030-10-27')).toEqual([[1_380], [60, 2]])
    expect(minutesOf('Asia/Kolkata', '2030-03-31')).toEqual([[15, 2], [1_380], [15, 2]])
    expect(minutesOf('Asia/Kathmandu', '2030-03-31')).toEqual([[15, 3], [1_380], [15, 1]])
  })

  it('are one range where short ones follow each other, so that hours are read in one go', () => {
    expect(rangesOf(edgesOf('UTC', '2030-01-01T00:00:00Z', '2030-01-31T00:00:00Z', 'hour'))).toEqual([
      { minutes: 60, from: new Date('2030-01-01T00:00:00Z'), to: new Date('2030-01-31T00:00:00Z') },
    ])
  })
})

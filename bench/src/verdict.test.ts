import { describe, expect, it } from 'vitest'
import type { Measurement } from './measure.ts'
import { summarise } from './summary.ts'
import { renderQuality, renderTable } from './table.ts'
import { Tally } from './tally.ts'
import { LATE_P99_LIMIT_MS, RATIO_LIMIT, slowYardstick, voidReasons } from './verdict.ts'

type Change = { cpu?: number; lateP99Ms?: number; doubled?: number }

function measured(role: Measurement['role'], change: Change = {}): Measurement {
  const report = new Tally().report()
  report.load.lateness.p99Ms = change.lateP99Ms ?? 1
  report.down.doubled = change.doubled ?? 0
  return {
    system: role === 'floor' ? 'raw-net' : role === 'relay' ? 'raw-ws' : 'other',
    role,
    calls: 100,
    cpuMsPerCallSecond: change.cpu ?? 1,
    busyPercent: 10,
    rssKbPerCall: 100,
    rssGrowthKbPerCall: 0,
    threads: [],
    report,
    noise: { othersPercent: 0, stealPercent: 0 },
  }
}

describe('a round', () => {
  it('counts when the load was on time and nothing went astray', () => {
    expect(voidReasons([measured('floor'), measured('relay')])).toEqual([])
  })

  it('is void when the load was late, under whichever system', () => {
    const late = measured('subject', { lateP99Ms: LATE_P99_LIMIT_MS + 1 })
    expect(voidReasons([measured('floor'), measured('relay'), late])).toEqual([
      'under other the load was late by 6.0 ms at p99, over 5',
    ])
  })

  it('is void when the yardstick doubled a frame, but not when the system that it judges did', () => {
    expect(voidReasons([measured('floor', { doubled: 1 }), measured('relay')])).toEqual(['under raw-net 1 doubled'])
    expect(voidReasons([measured('floor'), measured('relay'), measured('subject', { doubled: 1 })])).toEqual([])
  })
})

describe('the yardstick', () => {
  const rounds = (...ratios: number[]) => ratios.map((cpu) => [measured('floor'), measured('relay', { cpu })])

  it('may be slow in a round, but not in the median of them', () => {
    expect(slowYardstick(rounds(1.1, RATIO_LIMIT, 9))).toEqual([])
    expect(slowYardstick(rounds(1.1, RATIO_LIMIT + 0.01, 9))).toEqual(['the relay took 1.26 × the floor, over 1.25'])
  })

  it('is not judged where it did not run', () => {
    expect(slowYardstick([[measured('subject')]])).toEqual([])
  })
})

describe('the table', () => {
  const roundOf = (floor: number, relay: number) => {
    const measurements = [measured('floor', { cpu: floor }), measured('relay', { cpu: relay, doubled: 2 })]
    return { measurements, voidBecause: voidReasons(measurements) }
  }
  const repeats = [
    { calls: 100, repeat: 1, rounds: [roundOf(1, 9), roundOf(1, 1.1)] },
    { calls: 100, repeat: 2, rounds: [roundOf(2, 2.4)] },
    { calls: 100, repeat: 3, rounds: [roundOf(3, 3.9)] },
  ]
  const { rows, quality } = summarise(repeats)

  it('shows medians of each repeat`s last round, ratios within a round, and sums of what went astray', () => {
    expect(rows).toMatchObject([
      { system: 'raw-net', cpuMsPerCallSecond: 2, doubled: 0 },
      { system: 'raw-ws', cpuMsPerCallSecond: 2.4, relative: { cpu: 1 }, doubled: 6 },
    ])
    expect(rows[0]?.relative.cpu).toBeCloseTo(1 / 1.2)
    expect(renderTable(rows)).toContain('| 2.40 ')
  })

  it('says how often a round was run again, and why the run is void', () => {
    expect(quality).toMatchObject([{ retried: 1, relayOverFloor: 1.2, voidBecause: expect.any(Array) }])
    expect(renderQuality(quality, rows)).toContain('VOID: under raw-ws 2 doubled')
    const slow = repeats.slice(2).concat(repeats.slice(2))
    expect(renderQuality(summarise(slow).quality, rows)).toContain('VOID: the relay took 1.30 × the floor')
  })
})

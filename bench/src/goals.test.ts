import { describe, expect, it } from 'vitest'
import { judge, judgeLatency, renderGoals } from './goals.ts'
import { parseOptions } from './options.ts'
import type { SuiteResult } from './run-suite.ts'
import { CHECK_SUITES, latencySuite } from './suites.ts'
import type { Row } from './summary.ts'
import { Tally } from './tally.ts'

const { callerToModel: none } = new Tally().report()

function goodRow(system: string, calls: number): Row {
  return {
    system,
    calls,
    cpuMsPerCallSecond: 1.5,
    relative: { cpu: 1.15, callerToModelP99: 1.5, firstDeltaP99: 1.5, clearMs: 0.5 },
    cpuSpread: 0,
    busyPercent: 15,
    rssKbPerCall: 200,
    rssGrowthKbPerCall: 0,
    callerToModel: { ...none, p99Ms: 20 },
    firstDelta: { ...none, p99Ms: 20 },
    bargeInToClear: none,
    greeting: none,
    firstWord: { ...none, p99Ms: 300 },
    ownTurn: { ...none, p50Ms: 5, p99Ms: 20 },
    lost: 0,
    doubled: 0,
    crossed: 0,
    late: 0,
    refusedCalls: 1,
    otherFaults: 0,
    threads: [],
  }
}

/** Every row of the check as good as it must be, but for those of `system`, which are `changed`. */
function results(system: string, changed: Partial<Row>): SuiteResult[] {
  return CHECK_SUITES.map((suite) => {
    const rows = suite.calls.flatMap((calls) => suite.systems.map((name) => goodRow(name, calls)))
    const withChange = rows.map((row) => (row.system === system ? { ...row, ...changed } : row))
    return { suite, rows: withChange, quality: [], repeats: [] }
  })
}

function missed(system: string, changed: Partial<Row>): string[] {
  return judge(results(system, changed)).flatMap(({ goal, isMet }) => (isMet ? [] : [goal]))
}

describe('the goals', () => {
  it('are met at their limits', () => {
    expect(missed('parley', {})).toEqual([])
  })

  it.each<[string, Partial<Row>, number]>([
    ['CPU', { relative: { cpu: 1.16, callerToModelP99: 1, firstDeltaP99: 1, clearMs: 0 } }, 1],
    ['p99', { relative: { cpu: 1, callerToModelP99: 1.6, firstDeltaP99: 1.6, clearMs: 0 } }, 2],
    ['clear', { relative: { cpu: 1, callerToModelP99: 1, firstDeltaP99: 1, clearMs: 0.6 } }, 1],
    ['memory', { rssKbPerCall: 201 }, 1],
    ['growth', { rssGrowthKbPerCall: 21 }, 1],
    ['a lost frame', { lost: 1 }, 4],
    ['a dropped call', { otherFaults: 1 }, 4],
    ['20 ms on a full core, and under overload', { callerToModel: { ...none, p99Ms: 21 } }, 2],
    ['taking every call', { refusedCalls: 0 }, 1],
  ])('are missed by %s', (_what, changed, count) => {
    expect(missed('parley', changed)).toHaveLength(count)
  })

  it('leave the embedded database more room', () => {
    const relative = { cpu: 1.35, callerToModelP99: 2.5, firstDeltaP99: 2.5, clearMs: 0.5 }
    expect(missed('parley-embedded', { relative })).toEqual([])
    expect(missed('parley-embedded', { relative: { ...relative, cpu: 1.36 } })).toHaveLength(1)
  })

  it('let an agent that waits for 0.3 s of speech take that longer', () => {
    const relative = { cpu: 1, callerToModelP99: 1, firstDeltaP99: 1, clearMs: 300.5 }
    expect(missed('parley-default', { relative })).toEqual([])
    expect(missed('parley-default', { relative: { ...relative, clearMs: 300.6 } })).toHaveLength(1)
  })

  it('are missed by what was not measured, and by what came out as no number', () => {
    expect(judge([]).every(({ isMet }) => !isMet)).toBe(true)
    const nothing = Number.NaN
    const relative = { cpu: nothing, callerToModelP99: nothing, firstDeltaP99: nothing, clearMs: nothing }
    expect(missed('parley', { relative })).toHaveLength(4)
  })

  it('stand in a table with what was measured', () => {
    expect(renderGoals(judge(results('parley', { rssKbPerCall: 201 })))).toMatch(
      /memory ≤ 200 KB per call +\| 201 +\| FAIL/,
    )
  })
})

describe('the goals of what callers wait for', () => {
  const suite = latencySuite(parseOptions(['--latency']))
  const clear = (p99Ms: number) => ({ ...none, count: 1, p99Ms })
  const row = (system: string, changed: Partial<Row> = {}): Row => ({
    ...goodRow(system, 100),
    firstWord: { ...none, count: 1, p99Ms: 300 },
    ownTurn: { ...none, count: 1, p50Ms: 5, p99Ms: 20 },
    bargeInToClear: clear(system === 'parley-clips-default' ? 320 : 20),
    ...changed,
  })
  const missedBy = (changed: Partial<Row>) =>
    judgeLatency([
      {
        suite,
        rows: [row('raw-ws'), row('parley-clips', changed), row('parley-clips-default')],
        quality: [],
        repeats: [],
      },
    ]).flatMap(({ goal, isMet }) => (isMet ? [] : [goal]))

  it('are met at their limits, and not those of the yardstick', () => {
    expect(suite).toMatchObject({ calls: [100], thinkMs: 300 })
    expect(missedBy({})).toEqual([])
  })

  it.each<[Partial<Row>, string]>([
    [
      { firstWord: { ...none, count: 1, p99Ms: 300.1 } },
      'parley-clips, 100 calls: stream start→first word p99 ≤ 300 ms',
    ],
    [{ firstWord: none }, 'parley-clips, 100 calls: stream start→first word p99 ≤ 300 ms'],
    [{ ownTurn: { ...none, count: 1, p50Ms: 5.1 } }, 'parley-clips, 100 calls: own share of a turn p50 ≤ 5 ms'],
    [{ ownTurn: { ...none, count: 1, p99Ms: 20.1 } }, 'parley-clips, 100 calls: own share of a turn p99 ≤ 20 ms'],
    [{ bargeInToClear: clear(20.1) }, 'parley-clips, 100 calls: barge-in→clear p99 ≤ 20 ms'],
    [{ otherFaults: 1 }, 'parley-clips, 100 calls: other faults ≤ 0'],
  ])('are missed by what is beyond them, or was not measured', (changed, goal) => {
    expect(missedBy(changed)).toEqual([goal])
  })
})

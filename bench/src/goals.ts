import type { SuiteResult } from './run-suite.ts'
import type { Suite } from './suites.ts'
import type { Row } from './summary.ts'
import { markdown } from './table.ts'
import type { Delays } from './tally.ts'

/** Something that the service has to keep to. */
export type Goal = { goal: string; measured: string; isMet: boolean }

type Limits = { system: string; cpu: number; p99: number }

const ON_SERVER: Limits = { system: 'parley', cpu: 1.15, p99: 1.5 }
const EMBEDDED: Limits = { system: 'parley-embedded', cpu: 1.35, p99: 2.5 }
const CLEAR_MS = 0.5
const MIN_SPEECH_MS = 300
const RSS_KB = 200
const RSS_GROWTH_KB = 20
const FIRST_WORD_MS = 300
const OWN_TURN_P50_MS = 5
const OWN_TURN_P99_MS = 20
const CLEAR_P99_MS = 20
const FULL_CORE_CALLS = 300
const FULL_CORE_P99_MS = 20

/** Holds what was measured against what is promised. A row that is missing is a goal that is missed. */
export function judge(results: readonly SuiteResult[]): Goal[] {
  const find = (name: Suite['name'], system: string, calls: number) =>
    results.find(({ suite }) => suite.name === name)?.rows.find((row) => row.system === system && row.calls === calls)
  return [
    ...relativeGoals(ON_SERVER, find('turns', ON_SERVER.system, 100)),
    ...relativeGoals(EMBEDDED, find('turns', EMBEDDED.system, 100)),
    ...defaultPolicyGoals(find('turns', 'parley-default', 100)),
    ...faultGoals('parley over TLS, 100 calls', find('tls', 'parley', 100)),
    ...fullCoreGoals(find('tls', 'parley', FULL_CORE_CALLS)),
    ...overloadGoals(find('overload', 'parley', FULL_CORE_CALLS)),
  ]
}

/** What `bench:latency` holds the service to: delays in ms, at the numbers of calls that were run. */
export function judgeLatency(results: readonly SuiteResult[]): Goal[] {
  return results.flatMap(({ rows }) => rows.filter(({ system }) => system.startsWith('parley')).flatMap(latencyGoals))
}

function latencyGoals(row: Row): Goal[] {
  const { system, calls, firstWord, ownTurn, bargeInToClear } = row
  const policyMs = system.endsWith('default') ? MIN_SPEECH_MS : 0
  const goal = (what: string, delays: Delays, at: 'p50Ms' | 'p99Ms', limit: number) => {
    const value = delays.count === 0 ? undefined : delays[at]
    return atMost(`${system}, ${calls} calls: ${what} ${at.slice(0, 3)}`, value, { limit, unit: 'ms', digits: 1 })
  }
  return [
    goal('stream start→first word', firstWord, 'p99Ms', FIRST_WORD_MS),
    goal('own share of a turn', ownTurn, 'p50Ms', OWN_TURN_P50_MS),
    goal('own share of a turn', ownTurn, 'p99Ms', OWN_TURN_P99_MS),
    goal('barge-in→clear', bargeInToClear, 'p99Ms', policyMs + CLEAR_P99_MS),
    ...faultGoals(`${system}, ${calls} calls`, row),
  ]
}

/** The goals as a Markdown table. */
export function renderGoals(goals: readonly Goal[]): string {
  const lines = goals.map(({ goal, measured, isMet }) => [goal, measured, isMet ? 'ok' : 'FAIL'])
  return markdown([['goal', 'measured', ''], ...lines])
}

function relativeGoals({ system, cpu, p99 }: Limits, row: Row | undefined): Goal[] {
  const times = (what: string, value: number | undefined, limit: number) =>
    atMost(`${system}: ${what}`, value, { limit, unit: '× raw-ws', digits: 2 })
  return [
    times('CPU per call-second', row?.relative.cpu, cpu),
    times('caller→model p99', row?.relative.callerToModelP99, p99),
    times('first delta→caller p99', row?.relative.firstDeltaP99, p99),
    atMost(`${system}: barge-in→clear p50`, row?.relative.clearMs, {
      limit: CLEAR_MS,
      unit: 'ms over raw-ws',
      digits: 2,
    }),
    atMost(`${system}: memory`, row?.rssKbPerCall, { limit: RSS_KB, unit: 'KB per call', digits: 0 }),
    atMost(`${system}: memory, growth in the window`, row?.rssGrowthKbPerCall, {
      limit: RSS_GROWTH_KB,
      unit: 'KB per call',
      digits: 0,
    }),
    ...faultGoals(system, row),
  ]
}

function defaultPolicyGoals(row: Row | undefined): Goal[] {
  const limit = MIN_SPEECH_MS + CLEAR_MS
  const how = { limit, unit: 'ms over raw-ws', digits: 1 }
  return [
    atMost('parley-default: barge-in→clear p50', row?.relative.clearMs, how),
    ...faultGoals('parley-default', row),
  ]
}

function fullCoreGoals(row: Row | undefined): Goal[] {
  const what = `parley over TLS, ${FULL_CORE_CALLS} calls on one core`
  return [...delayGoals(what, row), ...faultGoals(what, row)]
}

/** With more calls than there is room for, those that were taken go on as before. */
function overloadGoals(row: Row | undefined): Goal[] {
  const refused = row?.refusedCalls ?? 0
  return [
    { goal: 'parley, overloaded: refuses calls', measured: `${refused} refused`, isMet: refused > 0 },
    ...delayGoals('parley, overloaded', row),
    ...faultGoals('parley, overloaded', row),
  ]
}

function delayGoals(what: string, row: Row | undefined): Goal[] {
  const how = { limit: FULL_CORE_P99_MS, unit: 'ms', digits: 1 }
  return [
    atMost(`${what}: caller→model p99`, row?.callerToModel.p99Ms, how),
    atMost(`${what}: first delta→caller p99`, row?.firstDelta.p99Ms, how),
  ]
}

function faultGoals(what: string, row: Row | undefined): Goal[] {
  return [
    atMost(`${what}: lost, doubled, crossed`, row && row.lost + row.doubled + row.crossed, {
      limit: 0,
      unit: 'frames',
    }),
    atMost(`${what}: other faults`, row?.otherFaults, { limit: 0, unit: '' }),
  ]
}

type How = { limit: number; unit: string; digits?: number }

function atMost(what: string, value: number | undefined, { limit, unit, digits = 0 }: How): Goal {
  const goal = `${what} ≤ ${limit} ${unit}`.trimEnd()
  if (value === undefined) return { goal, measured: 'not measured', isMet: false }
  // Nothing that was measured is as good as NaN, which is below no limit.
  return { goal, measured: value.toFixed(digits), isMet: value <= limit }
}

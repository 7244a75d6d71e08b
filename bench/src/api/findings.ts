import { markdown } from '../table.ts'
import type { Delays } from '../tally.ts'
import { LATE_P99_LIMIT_MS } from '../verdict.ts'
import type { AnalyticsFigures, QuestionFigure } from './analytics.ts'
import type { FilterFigure, ListFigures } from './lists.ts'
import type { OutboxFigures } from './outbox.ts'
import type { Part } from './plan.ts'
import type { RingFigures } from './rings.ts'

/** Everything that was measured; a part that was not asked for is missing. */
export type ApiFigures = {
  lists?: ListFigures[]
  filters?: FilterFigure[]
  rings?: RingFigures
  outbox?: OutboxFigures
  analytics?: AnalyticsFigures
}

/** A figure beside what it is measured by, and what it has to keep to. */
export type Finding = { what: string; measured: string; yardstick: string; goal: string; isMet: boolean }

const LIST_RATIO = 0.6
const DEEP_RATIO = 1.3
const FILTER_RATIO = 3
const RING_P99_MS = 100
/** What calls have to keep to on a full core. */
const TALK_P99_MS = 20
const DELIVERIES_PER_SECOND = 200
const DELAY_RATIO = 1.5
const ANALYTICS_P99_MS = 200

/** The bare route must cost about the same in every round; else the machine had other things to do. */
const BARE_SPREAD_LIMIT = 0.4
/** The same for its times, of which one request at a time is measured. */
const BARE_P99_LIMIT = 10

/** Holds what was measured against what is promised. A part that was asked for and is missing is one that is missed. */
export function findingsOf(figures: ApiFigures, parts: readonly Part[]): Finding[] {
  const { lists, filters, rings, outbox, analytics } = figures
  const found: Record<Part, Finding[] | undefined> = {
    lists: lists?.flatMap(ofList),
    filters: filters && ofFilters(filters),
    rings: rings && ofRings(rings),
    outbox: outbox && ofOutbox(outbox),
    analytics: analytics && ofAnalytics(analytics),
  }
  return parts.flatMap((part) => found[part] ?? [notMeasured(part)])
}

/** Why the figures must not be believed; empty when they may. */
export function apiVoidReasons({ lists = [], filters = [], rings }: ApiFigures): string[] {
  const restless = lists.filter(({ throughput }) => throughput.bareSpread > BARE_SPREAD_LIMIT)
  const uneven = filters.filter(({ bareP50Ms, bareP99Ms }) => bareP99Ms > BARE_P99_LIMIT * bareP50Ms)
  const late = rings ? { 'the ringing': rings.lateP99Ms, 'the load': rings.talk.load.lateness.p99Ms } : {}
  return [
    ...restless.map(({ list, throughput: { bareSpread } }) => {
      return `${list}: the bare route's rounds lie ${percent(bareSpread)} apart, over ${percent(BARE_SPREAD_LIMIT)}`
    }),
    ...new Set(
      uneven.map(({ list, tenantRows }) => {
        return `${list} of ${tenantRows}: the bare query's p99 is over ${BARE_P99_LIMIT} × its median`
      }),
    ),
    ...Object.entries(late)
      .filter(([, ms]) => ms > LATE_P99_LIMIT_MS)
      .map(([who, ms]) => `${who} was late by ${ms.toFixed(1)} ms at p99, over ${LATE_P99_LIMIT_MS}`),
  ]
}

/** The findings as a Markdown table. */
export function renderFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ what, measured, yardstick, goal, isMet }) => {
    return [what, measured, yardstick, goal, isMet ? 'ok' : 'FAIL']
  })
  return markdown([['what', 'measured', 'yardstick', 'goal', ''], ...lines])
}

function notMeasured(part: Part): Finding {
  return { what: part, measured: 'not measured', yardstick: '', goal: '', isMet: false }
}

function ofList({ list, throughput, deepPage }: ListFigures): Finding[] {
  const { service, bare, ratio } = throughput
  const { row, firstMs, deepMs } = deepPage
  return [
    {
      what: `${list}: requests per CPU-second`,
      measured: `${service.toFixed(0)}, ${ratio.toFixed(2)} ×`,
      yardstick: `${bare.toFixed(0)}, the bare route`,
      goal: `≥ ${LIST_RATIO} ×`,
      isMet: ratio >= LIST_RATIO,
    },
    {
      what: `${list}: page behind row ${row}, p50`,
      measured: `${deepMs.toFixed(2)} ms, ${times(deepMs, firstMs)}`,
      yardstick: `${firstMs.toFixed(2)} ms, the first page`,
      goal: `≤ ${DEEP_RATIO} ×`,
      isMet: deepMs <= DEEP_RATIO * firstMs,
    },
  ]
}

/** Of a tenant's list the worst filter, and each further one that is missed. */
function ofFilters(figures: readonly FilterFigure[]): Finding[] {
  const groups = Map.groupBy(figures, ({ list, tenantRows }) => `${list} of ${tenantRows}`)
  return [...groups.values()].flatMap((group) => {
    const [worst, ...others] = group.toSorted((a, b) => b.p99Ms - a.p99Ms)
    if (worst === undefined) return []
    const missed = others.map((figure) => ofFilter(figure)).filter(({ isMet }) => !isMet)
    return [ofFilter(worst, `, the worst of ${group.length}`), ...missed]
  })
}

function ofFilter({ list, name, rows, tenantRows, p50Ms, p99Ms, bareP99Ms }: FilterFigure, among = ''): Finding {
  return {
    what: `${list} of ${tenantRows} by ${name}, ${rows}${among}: p99`,
    measured: `${p99Ms.toFixed(2)} ms, ${times(p99Ms, bareP99Ms)} (p50 ${p50Ms.toFixed(2)} ms)`,
    yardstick: `${bareP99Ms.toFixed(2)} ms, the bare query`,
    goal: `≤ ${FILTER_RATIO} ×`,
    isMet: p99Ms <= FILTER_RATIO * bareP99Ms,
  }
}

function ofRings({ rings, p50Ms, p99Ms, refused, failed, talk }: RingFigures): Finding[] {
  const { callerToModel, firstDelta, up, down, faults } = talk
  const limit = (what: string, measured: string, isMet: boolean, goal: string) => {
    return { what, measured, yardstick: '', goal, isMet }
  }
  const lost = up.lost + up.doubled + down.lost + down.doubled + faults.crossed
  const delay = (what: string, { count, p99Ms: ms }: Delays) => {
    const measured = count === 0 ? 'none' : `${ms.toFixed(2)} ms`
    return limit(`calls beside them: ${what} p99`, measured, count > 0 && ms <= TALK_P99_MS, `≤ ${TALK_P99_MS} ms`)
  }
  return [
    limit(
      `incoming-call, ${rings} of them: p99`,
      `${p99Ms.toFixed(1)} ms (p50 ${p50Ms.toFixed(1)} ms)`,
      p99Ms <= RING_P99_MS,
      `≤ ${RING_P99_MS} ms`,
    ),
    limit('incoming-call: refused, failed', `${refused}, ${failed}`, refused + failed === 0, '0'),
    delay('caller→model', callerToModel),
    delay('first delta→caller', firstDelta),
    limit('calls beside them: lost, doubled, crossed', String(lost), lost === 0, '0'),
    limit('calls beside them: dropped', String(faults.callsDropped), faults.callsDropped === 0, '0'),
  ]
}

function ofOutbox({ alone, besideHanging, nodes, hangingTenants }: OutboxFigures): Finding[] {
  const { rows, delivered, perSecond, p99DelaySeconds: p99 } = besideHanging
  return [
    {
      what: `deliveries per second, ${nodes} nodes, ${hangingTenants} tenants hanging`,
      measured: `${perSecond.toFixed(0)} (${delivered} of ${rows})`,
      yardstick: `${alone.perSecond.toFixed(0)}, none hanging`,
      goal: `≥ ${DELIVERIES_PER_SECOND}`,
      isMet: perSecond >= DELIVERIES_PER_SECOND,
    },
    {
      what: "the other tenants' delay, p99",
      measured: `${p99.toFixed(1)} s, ${times(p99, alone.p99DelaySeconds)}`,
      yardstick: `${alone.p99DelaySeconds.toFixed(1)} s, none hanging`,
      goal: `≤ ${DELAY_RATIO} ×`,
      // Where neither is known, neither is kept.
      isMet: Number.isFinite(p99) && p99 <= DELAY_RATIO * alone.p99DelaySeconds,
    },
  ]
}

/** How long it took to count has no goal: it is done once, and then by the hour. */
function ofAnalytics({ calls, days, hours, countSeconds, questions }: AnalyticsFigures): Finding[] {
  const counted = {
    what: `to count ${calls} calls of ${days} days`,
    measured: `${countSeconds.toFixed(1)} s, ${((countSeconds * 1_000) / hours).toFixed(0)} ms an hour of them`,
    ...{ yardstick: '', goal: '', isMet: true },
  }
  return [counted, ...questions.map((question) => ofQuestion(question, `${calls} calls, ${days} days`))]
}

function ofQuestion({ question, p50Ms, p99Ms }: QuestionFigure, among: string): Finding {
  return {
    what: `analytics of ${among}, ${question}: p99`,
    measured: `${p99Ms.toFixed(1)} ms (p50 ${p50Ms.toFixed(1)} ms)`,
    ...{ yardstick: '', goal: `≤ ${ANALYTICS_P99_MS} ms`, isMet: p99Ms <= ANALYTICS_P99_MS },
  }
}

function times(value: number, yardstick: number): string {
  return `${(value / yardstick).toFixed(2)} ×`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

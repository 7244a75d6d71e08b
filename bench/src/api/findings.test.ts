import { describe, expect, it } from 'vitest'
import { Tally } from '../tally.ts'
import { type ApiFigures, apiVoidReasons, findingsOf, renderFindings } from './findings.ts'
import type { DeliveryFigures } from './outbox.ts'
import { PARTS, type Part } from './plan.ts'

const delivery: DeliveryFigures = { rows: 90, delivered: 90, seconds: 0.3, perSecond: 300, p99DelaySeconds: 10 }

/** Figures that keep to everything. */
function sound(): Required<ApiFigures> {
  const delays = { count: 1_000, p50Ms: 1, p99Ms: 20, maxMs: 30 }
  const talk = { ...new Tally().report(), callerToModel: { ...delays }, firstDelta: { ...delays } }
  const ofFilter = { list: 'call_logs', name: 'status', rows: 'few', tenantRows: 100 } as const
  return {
    lists: [
      {
        list: 'call_logs',
        throughput: { service: 600, bare: 1_000, ratio: 0.6, bareSpread: 0.1, rounds: [] },
        deepPage: { row: 10_000, firstMs: 2, deepMs: 2.6 },
      },
    ],
    filters: [{ ...ofFilter, p50Ms: 2, p99Ms: 9, bareP50Ms: 1, bareP99Ms: 3 }],
    rings: { rings: 2_000, p50Ms: 8, p99Ms: 100, maxMs: 200, refused: 0, failed: 0, failures: [], lateP99Ms: 2, talk },
    analytics: {
      ...{ calls: 500, days: 30, hours: 720, countSeconds: 9 },
      questions: [{ question: 'by day', p50Ms: 20, p99Ms: 200 }],
    },
    outbox: { alone: delivery, besideHanging: { ...delivery, p99DelaySeconds: 15 }, nodes: 2, hangingTenants: 20 },
  }
}

function missed(change: (figures: Required<ApiFigures>) => void, parts: readonly Part[] = PARTS): string[] {
  const figures = sound()
  change(figures)
  return findingsOf(figures, parts)
    .filter(({ isMet }) => !isMet)
    .map(({ what }) => what)
}

/** The one element that the figures above have. */
function only<T>(all: T[] | undefined): T {
  const [one] = all ?? []
  if (one === undefined) throw new Error('there is one')
  return one
}

describe('the goals of the API', () => {
  it('are met where each figure just keeps to its own', () => expect(missed(() => {})).toEqual([]))

  it.each<[string, (figures: Required<ApiFigures>) => void]>([
    ['call_logs: requests per CPU-second', ({ lists }) => Object.assign(only(lists).throughput, { ratio: 0.59 })],
    ['call_logs: requests per CPU-second', ({ lists }) => Object.assign(only(lists).throughput, { ratio: Number.NaN })],
    ['call_logs: page behind row 10000, p50', ({ lists }) => Object.assign(only(lists).deepPage, { deepMs: 2.7 })],
    [
      'call_logs of 100 by status, few, the worst of 1: p99',
      ({ filters }) => Object.assign(only(filters), { p99Ms: 9.1 }),
    ],
    [
      'analytics of 500 calls, 30 days, by day: p99',
      ({ analytics }) => Object.assign(only(analytics.questions), { p99Ms: 201 }),
    ],
    ['incoming-call, 2000 of them: p99', ({ rings }) => Object.assign(rings, { p99Ms: 101 })],
    ['incoming-call, 2000 of them: p99', ({ rings }) => Object.assign(rings, { p99Ms: Number.NaN })],
    ['incoming-call: refused, failed', ({ rings }) => Object.assign(rings, { refused: 1 })],
    ['incoming-call: refused, failed', ({ rings }) => Object.assign(rings, { failed: 1 })],
    ['calls beside them: caller→model p99', ({ rings }) => Object.assign(rings.talk.callerToModel, { p99Ms: 21 })],
    ['calls beside them: first delta→caller p99', ({ rings }) => Object.assign(rings.talk.firstDelta, { p99Ms: 21 })],
    ['calls beside them: caller→model p99', ({ rings }) => Object.assign(rings.talk.callerToModel, { count: 0 })],
    ['calls beside them: lost, doubled, crossed', ({ rings }) => Object.assign(rings.talk.up, { lost: 1 })],
    ['calls beside them: dropped', ({ rings }) => Object.assign(rings.talk.faults, { callsDropped: 1 })],
    [
      'deliveries per second, 2 nodes, 20 tenants hanging',
      ({ outbox }) => Object.assign(outbox.besideHanging, { perSecond: 199 }),
    ],
    ["the other tenants' delay, p99", ({ outbox }) => Object.assign(outbox.besideHanging, { p99DelaySeconds: 15.1 })],
  ])('miss one: %s', (what, change) => expect(missed(change)).toEqual([what]))

  it('are told of the worst filter of each list, and of each that is missed', () => {
    const [name, rows] = ['status', 'few'] as const
    const ofTenant = { list: 'call_logs', tenantRows: 100, p50Ms: 2, bareP50Ms: 1, bareP99Ms: 3 } as const
    const filters = [
      { ...ofTenant, name, rows, p99Ms: 8 },
      { ...ofTenant, name: 'from', rows, p99Ms: 11 },
      { ...ofTenant, name: 'to', rows, p99Ms: 10 },
      { ...ofTenant, name, rows, p99Ms: 5, tenantRows: 7 },
    ]
    expect(findingsOf({ filters }, ['filters']).map(({ what, isMet }) => [what, isMet])).toEqual([
      ['call_logs of 100 by from, few, the worst of 3: p99', false],
      ['call_logs of 100 by to, few: p99', false],
      ['call_logs of 7 by status, few, the worst of 1: p99', true],
    ])
  })

  it("miss the other tenants' delay where some of their rows never came, with or without hanging ones", () => {
    const never = Number.POSITIVE_INFINITY
    const what = ["the other tenants' delay, p99"]
    expect(
      missed(({ outbox }) => {
        outbox.alone.p99DelaySeconds = never
        outbox.besideHanging.p99DelaySeconds = never
      }),
    ).toEqual(what)
  })

  it('miss what was asked for and not measured, and only that', () => {
    expect(findingsOf({}, ['rings'])).toMatchObject([{ what: 'rings', measured: 'not measured', isMet: false }])
  })

  it('stand in a table, each beside its yardstick', () => {
    const table = renderFindings(findingsOf(sound(), ['lists']))
    const [head, , line] = table.split('\n').map((cells) => cells.split(/ *\| */).slice(1, -1))
    expect(head).toEqual(['what', 'measured', 'yardstick', 'goal', ''])
    expect(line).toEqual(['call_logs: requests per CPU-second', '600, 0.60 ×', '1000, the bare route', '≥ 0.6 ×', 'ok'])
  })
})

describe('a run', () => {
  it('counts when the machine was quiet', () => expect(apiVoidReasons(sound())).toEqual([]))
  it('counts for what was asked', () => expect(apiVoidReasons({})).toEqual([]))

  it('is void when the yardstick itself was uneven, or the load late', () => {
    const figures = sound()
    only(figures.lists).throughput.bareSpread = 0.5
    only(figures.filters).bareP99Ms = 11
    figures.filters.push(only(figures.filters))
    figures.rings.lateP99Ms = 6
    figures.rings.talk.load.lateness.p99Ms = 7
    expect(apiVoidReasons(figures)).toEqual([
      "call_logs: the bare route's rounds lie 50 % apart, over 40 %",
      "call_logs of 100: the bare query's p99 is over 10 × its median",
      'the ringing was late by 6.0 ms at p99, over 5',
      'the load was late by 7.0 ms at p99, over 5',
    ])
  })
})

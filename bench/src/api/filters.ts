import type { List } from './bare-columns.ts'

/** A list under one filter. `rows`: how many of a tenant's it finds, in words. */
export type FilterCase = { name: string; rows: 'many' | 'few' | 'none'; query: string }

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

const ago = (ms: number, nowMs: number) => new Date(nowMs - ms).toISOString()

/** Each filter that the documentation names, once finding many and once few, and where it differs also none. */
export function filterCases({ name }: List, nowMs: number): FilterCase[] {
  const cases: [name: string, rows: FilterCase['rows'], value: string][] = [
    ...both('status', 'completed', 'canceled'),
    ...both('direction', 'inbound', 'browser'),
    ...both('agent_key', 'reception', 'night'),
    ['agent_key', 'none', 'nobody'],
    ...both('from', 'anonymous', '+12022030000'),
    ...both('to', '+12025550101', '+12025550190'),
    ...both('started_after', ago(80 * DAY_MS, nowMs), ago(30 * MINUTE_MS, nowMs)),
    ...both('started_before', ago(10 * DAY_MS, nowMs), ago(90 * DAY_MS - 30 * MINUTE_MS, nowMs)),
    ...(name === 'voice_sessions' ? OF_SESSIONS : []),
  ]
  return cases.map(([filter, rows, value]) => ({
    name: filter,
    rows,
    query: new URLSearchParams({ [filter]: value }).toString(),
  }))
}

const OF_SESSIONS: [string, FilterCase['rows'], string][] = [
  ...both('tag', 'sale', 'complaint'),
  ['tag', 'none', 'nothing'],
  ...both('end_reason', 'caller_hangup', 'model_lost'),
  ...both('q', 'order', 'zeppelin'),
  ['q', 'few', '"a refund"'],
  ['q', 'none', 'nothing'],
]

function both(name: string, many: string, few: string): [string, FilterCase['rows'], string][] {
  return [
    [name, 'many', many],
    [name, 'few', few],
  ]
}

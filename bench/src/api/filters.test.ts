import { describe, expect, it } from 'vitest'
import { LISTS } from './bare-columns.ts'
import { filterCases } from './filters.ts'

const [callLogs, voiceSessions] = LISTS
const NOW_MS = Date.parse('2030-04-01T00:00:00.000Z')

describe('the filters that are measured', () => {
  it('are each of those that calls can be looked for by, finding many and few', () => {
    const names = ['status', 'direction', 'agent_key', 'from', 'to', 'started_after', 'started_before']
    const cases = filterCases(callLogs, NOW_MS)
    expect([...new Set(cases.map(({ name }) => name))]).toEqual(names)
    for (const name of names) {
      expect(cases.filter((one) => one.name === name).map(({ rows }) => rows)).toEqual(
        expect.arrayContaining(['many', 'few']),
      )
    }
  })

  it('are for sessions those of calls and their own', () => {
    const names = filterCases(voiceSessions, NOW_MS).map(({ name }) => name)
    expect([...new Set(names)].slice(7)).toEqual(['tag', 'end_reason', 'q'])
  })

  it('are written as queries', () => {
    const queries = filterCases(voiceSessions, NOW_MS).map(({ query }) => query)
    expect(queries).toEqual(
      expect.arrayContaining(['from=%2B12022030000', 'q=%22a+refund%22', 'started_after=2030-01-11T00%3A00%3A00.000Z']),
    )
  })
})

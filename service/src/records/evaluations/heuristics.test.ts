import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heuristicCriteria, type Measured } from './heuristics.ts'
import { averageOf } from './scores.ts'

const turn = (role: string, startMs: number, endMs: number, interrupted = false) => {
  return { role, start_ms: startMs, end_ms: endMs, interrupted }
}

const GOOD: Measured = {
  durationMs: 40_000,
  endReason: 'agent_hangup',
  turns: [
    turn('agent', 500, 4_000),
    turn('caller', 5_000, 9_000),
    turn('agent', 10_000, 18_000),
    turn('caller', 20_000, 26_000),
    turn('agent', 27_000, 38_000),
  ],
  calls: [],
}

function scoresOf(measured: Partial<Measured>): Record<string, number> {
  return Object.fromEntries(heuristicCriteria({ ...GOOD, ...measured }).map(({ name, score }) => [name, score]))
}

describe('what the records alone say of a call', () => {
  it('is nothing bad of a good one, and nothing of what there was no occasion for', () => {
    expect(scoresOf({})).toEqual({ dead_air: 1, interruptions: 1, early_hangup: 1, talk_share: 1 })
    expect(scoresOf({ turns: [] })).toEqual({ early_hangup: 1 })
  })

  it('tells dead air by its share of the call, without pauses, and not while a function runs', () => {
    const turns = [turn('agent', 0, 2_000), turn('caller', 10_000, 12_000)]
    expect(scoresOf({ turns })['dead_air']).toBe(0.5)
    const calls = [{ status: 'ok', start_ms: 2_000, duration_ms: 6_000 }]
    expect(scoresOf({ turns, calls })['dead_air']).toBe(1)
  })

  it('tells turns that were stopped, functions that failed, callers who leave at once, and who talks all the time', () => {
    const stopped = [turn('agent', 0, 2_000, true), ...GOOD.turns.slice(1)]
    expect(scoresOf({ turns: stopped })['interruptions']).toBeCloseTo(1 / 3, 3)
    const calls = ['ok', 'error', 'timeout', 'ok'].map((status) => ({ status, start_ms: 0, duration_ms: 1 }))
    expect(scoresOf({ calls })['tool_errors']).toBe(0.5)
    expect(scoresOf({ endReason: 'caller_hangup', durationMs: 14_000 })['early_hangup']).toBe(0)
    expect(scoresOf({ endReason: 'caller_hangup', durationMs: 16_000 })['early_hangup']).toBe(1)
    expect(scoresOf({ turns: [turn('agent', 0, 9_000), turn('caller', 9_000, 10_000)] })['talk_share']).toBe(0.5)
  })

  it('is from 0 to 1 with a reason, whatever the records hold', () => {
    const ms = fc.integer({ min: 0, max: 100_000 })
    const anyTurn = fc.record({
      role: fc.constantFrom('agent', 'caller', 'system'),
      ...{ start_ms: ms, end_ms: ms, interrupted: fc.boolean() },
    })
    const anyCall = fc.record({ status: fc.constantFrom('ok', 'error'), start_ms: ms, duration_ms: ms })
    const anything = fc.record({
      ...{ durationMs: ms, endReason: fc.constantFrom('caller_hangup' as const, null) },
      ...{ turns: fc.array(anyTurn), calls: fc.array(anyCall) },
    })
    fc.assert(
      fc.property(anything, (measured) => {
        const criteria = heuristicCriteria(measured)
        for (const { score, reason } of criteria) {
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(1)
          expect(reason).toMatch(/\.$/)
        }
        expect(averageOf(criteria)).not.toBeNaN()
      }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { makeLog } from '../log.ts'
import { HealthChecks } from './health-checks.ts'

/** One check that does what the test says, and how often it was asked. */
function checking() {
  const clock = new TestClock()
  const lines: string[] = []
  const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
  const state = { asked: 0, run: async () => {} }
  const check = {
    name: 'database',
    check: () => {
      state.asked += 1
      return state.run()
    },
  }
  const health = new HealthChecks({ checks: [check], clock, log })
  return { clock, state, health, messages: () => lines.map((line) => JSON.parse(line).msg) }
}

describe('HealthChecks', () => {
  it('asks once a second however often it is asked', async () => {
    const { clock, state, health } = checking()
    for (const _ of [1, 2, 3]) await Promise.all([health.results(), health.results()])
    expect(state.asked).toBe(1)
    await clock.advance(999)
    await health.results()
    expect(state.asked).toBe(1)
    await clock.advance(1)
    await health.results()
    expect(state.asked).toBe(2)
  })

  it('never asks while it waits for an answer', async () => {
    const { clock, state, health } = checking()
    state.run = () => new Promise(() => {})
    const first = health.results()
    await clock.advance(1_500)
    const second = health.results()
    await clock.advance(500)
    expect(await first).toEqual([{ name: 'database', isOptional: false, ok: false, latencyMs: 2_000 }])
    expect(await second).toEqual(await first)
    expect(state.asked).toBe(1)
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('ECONNREFUSED'))],
    [
      'throws',
      () => {
        throw new Error('ECONNREFUSED')
      },
    ],
  ])('says that a check which %s has failed, and asks it again later', async (_how, run) => {
    const { clock, state, health } = checking()
    state.run = run
    expect(await health.results()).toEqual([{ name: 'database', isOptional: false, ok: false, latencyMs: 0 }])
    state.run = async () => {}
    await clock.advance(1_000)
    expect(await health.results()).toEqual([{ name: 'database', isOptional: false, ok: true, latencyMs: 0 }])
  })

  it('logs only what changes', async () => {
    const { clock, state, health, messages } = checking()
    for (const failing of [false, true, true, true, false, false]) {
      state.run = failing ? () => Promise.reject(new Error('down')) : async () => {}
      await health.results()
      await clock.advance(1_000)
    }
    expect(messages()).toEqual(['check failed', 'check works again'])
  })
})

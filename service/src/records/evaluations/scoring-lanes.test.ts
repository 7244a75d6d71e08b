import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { ScoringLanes } from './scoring-lanes.ts'

const SLOW_MS = 15_000
const nothing = () => {}

/** Lanes of which these tenants have taken as many as they get. */
function takenBy(clock: TestClock, ...tenants: string[]) {
  const lanes = new ScoringLanes(clock)
  const giveBack = tenants.map((tenantId) => lanes.take(tenantId as TenantId, nothing))
  return { lanes, giveBack }
}

describe('ScoringLanes', () => {
  it('has four, of which one tenant gets three', () => {
    const { lanes, giveBack } = takenBy(new TestClock(), 'acme', 'acme', 'acme')
    expect([lanes.free, lanes.fullTenants]).toEqual([1, ['acme']])
    for (const give of giveBack) give()
    expect([lanes.free, lanes.fullTenants, lanes.taken]).toEqual([4, [], 0])
  })

  it('frees the lanes of what takes its time, says so, and gives its tenant no more until it is done', async () => {
    const clock = new TestClock()
    const { lanes, giveBack } = takenBy(clock, 'acme', 'globex', 'globex')
    let told = 0
    giveBack.push(lanes.take('initech' as TenantId, () => (told += 1)))
    expect(lanes.free).toBe(0)
    await clock.advance(SLOW_MS)
    expect([lanes.free, lanes.taken, told]).toEqual([4, 4, 1])
    expect(lanes.fullTenants).toEqual(['acme', 'globex', 'initech'])
    for (const give of giveBack) give()
    expect([lanes.taken, lanes.fullTenants, clock.pendingTimers]).toEqual([0, [], 0])
  })

  it('has no more than twelve under way, however slow they are', async () => {
    const clock = new TestClock()
    const { lanes } = takenBy(clock, 'acme', 'acme', 'acme', 'globex')
    await clock.advance(SLOW_MS)
    for (const tenantId of ['a', 'b', 'c', 'd']) lanes.take(tenantId as TenantId, nothing)
    await clock.advance(SLOW_MS)
    for (const tenantId of ['e', 'f', 'g']) lanes.take(tenantId as TenantId, nothing)
    expect(lanes.free).toBe(1)
    await clock.advance(SLOW_MS)
    expect([lanes.taken, lanes.free]).toEqual([11, 1])
  })
})

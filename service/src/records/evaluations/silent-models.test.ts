import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { SilentModels } from './silent-models.ts'

const [ACME, GLOBEX] = ['acme', 'globex'] as [TenantId, TenantId]
const yes = async () => 'yes'

describe('SilentModels', () => {
  it('has those wait whose model does not answer, twice as long each time up to five minutes, and no others', async () => {
    const clock = new TestClock()
    const silent = new SilentModels(clock)
    for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      expect(silent.notAnswered('slow', ACME)).toBe(pauseMs === 5_000)
      expect(await silent.asked('slow', GLOBEX, yes)).toBeNull()
      expect(await silent.asked(null, GLOBEX, yes)).toBe('yes')
      await clock.advance(pauseMs - 1)
      expect(silent.waitingTenants).toEqual([ACME, GLOBEX])
      await clock.advance(1)
      expect(silent.waitingTenants).toEqual([])
    }
  })

  it('has one that did not answer asked by one session at a time, and by all when it has', async () => {
    const clock = new TestClock()
    const silent = new SilentModels(clock)
    silent.notAnswered(null, ACME)
    await clock.advance(5_000)
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = silent.asked(null, ACME, () => promise)
    expect(await silent.asked(null, GLOBEX, yes)).toBeNull()
    expect(silent.waitingTenants).toEqual([ACME, GLOBEX])
    resolve('yes')
    expect(await first).toBe('yes')
    expect([silent.answered(null), silent.answered(null)]).toEqual([1, 0])
    expect(silent.waitingTenants).toEqual([])
  })

  it('takes the faults of sessions that asked together for one', async () => {
    const silent = new SilentModels(new TestClock())
    expect([silent.notAnswered('slow', ACME), silent.notAnswered('slow', GLOBEX)]).toEqual([true, false])
    expect(silent.answered('slow')).toBe(1)
  })
})

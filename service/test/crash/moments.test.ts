import { describe, expect, it } from 'vitest'
import { KillTrap, type Moment } from './moments.ts'

const COMMIT: Moment = { where: 'database', when: 'before', statement: 'commit', transaction: [] }

describe('the trap', () => {
  it('kills once, when what it waits for comes for the n-th time', async () => {
    const trap = new KillTrap()
    let kills = 0
    const kill = () => {
      kills += 1
    }
    expect(trap.reach(COMMIT)).toBe(false)
    const sprung = trap.arm(({ when }) => when === 'before', { times: 2, kill })
    expect([trap.reach({ ...COMMIT, when: 'after' }), trap.reach(COMMIT), kills]).toEqual([false, false, 0])
    expect([trap.reach(COMMIT), kills]).toEqual([true, 1])
    expect([trap.reach(COMMIT), kills]).toEqual([false, 1])
    await sprung
  })

  it('does nothing any more when it is disarmed', () => {
    const trap = new KillTrap()
    void trap.arm(() => true, { times: 1, kill: () => expect.unreachable() })
    trap.disarm()
    expect(trap.reach(COMMIT)).toBe(false)
  })
})

import { describe, expect, it } from 'vitest'
import { makeSteadyClock } from './steady-clock.fixture.ts'

describe('the clock of the tests', () => {
  it('stands still while the process does', () => {
    const clock = makeSteadyClock(5)
    const beganMs = performance.now()
    while (performance.now() - beganMs < 100);
    expect(clock.nowMs()).toBeLessThanOrEqual(40)
  })

  it('fires what is due in order, and nothing that was prevented', async () => {
    const clock = makeSteadyClock(5)
    const fired: string[] = []
    const done = new Promise<void>((resolve) => clock.after(100, resolve))
    clock.after(60, () => fired.push('second'))
    clock.after(20, () => fired.push('first'))
    clock.after(40, () => fired.push('never'))()
    await done
    expect(fired).toEqual(['first', 'second'])
    expect([clock.nowMs() >= 100, clock.pending()]).toEqual([true, 0])
  })
})

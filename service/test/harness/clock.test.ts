import { describe, expect, it } from 'vitest'
import { withTimeout } from '../../src/kernel/clock.ts'
import { TestClock } from './clock.ts'

describe('TestClock', () => {
  it('stands still until it is moved', async () => {
    const clock = new TestClock(1_000)
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_000, 0])
    await clock.advance(250)
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_250, 250])
  })

  it('fires what falls due in order, each at its instant', async () => {
    const clock = new TestClock(0)
    const fired: string[] = []
    clock.after(30, () => fired.push(`once ${clock.now()}`))
    clock.every(20, () => fired.push(`every ${clock.now()}`))
    clock.after(20, () => fired.push(`second of two ${clock.now()}`))
    await clock.advance(40)
    expect(fired).toEqual(['every 20', 'second of two 20', 'once 30', 'every 40'])
  })

  it('fires nothing that was cancelled', async () => {
    const clock = new TestClock()
    const fired: string[] = []
    clock.after(10, () => fired.push('once'))()
    const cancel = clock.every(10, () => {
      fired.push('every')
      cancel()
    })
    await clock.advance(100)
    expect(fired).toEqual(['every'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('lets promises go on between two timers, so that one may set the next', async () => {
    const clock = new TestClock(0)
    const instants: number[] = []
    const tick = async (): Promise<void> => {
      await new Promise<void>((resolve) => clock.after(10, resolve))
      instants.push(clock.now())
      if (instants.length < 3) await tick()
    }
    const ticking = tick()
    await clock.advance(100)
    await ticking
    expect(instants).toEqual([10, 20, 30])
  })

  it('drives our timeouts', async () => {
    const clock = new TestClock()
    const late = expect(withTimeout(clock, new Promise(() => undefined), 50, () => new Error('late'))).rejects.toThrow(
      'late',
    )
    await clock.advance(50)
    await late
  })
})

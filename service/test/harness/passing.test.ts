import { describe, expect, it } from 'vitest'
import { TestClock } from './clock.ts'
import { passing } from './passing.ts'

describe('passing', () => {
  it('moves time on in steps until the condition holds', async () => {
    const clock = new TestClock()
    expect(await passing(clock, () => clock.monotonicMs() >= 1_000, { what: 'a second' })).toBe(true)
    expect(clock.monotonicMs()).toBe(1_000)
  })

  it('lets no time pass while something is done in real time', async () => {
    const clock = new TestClock()
    let looks = 0
    const looked = () => {
      looks += 1
      return looks === 10
    }
    await passing(clock, looked, { what: 'ten looks', stepMs: 5_000, isBusy: () => looks < 8 })
    expect(clock.monotonicMs()).toBe(10_000)
  })

  it('moves time on for what the condition itself waits for', async () => {
    const clock = new TestClock()
    const inASecond = () => new Promise<true>((resolve) => clock.after(1_000, () => resolve(true)))
    expect(await passing(clock, inASecond, { what: 'what takes a second' })).toBe(true)
    expect(clock.monotonicMs()).toBe(1_000)
  })

  it('leaves time standing still, with nothing under way, where the condition came within a step', async () => {
    const clock = new TestClock()
    const firedMs: number[] = []
    clock.after(200, () => firedMs.push(clock.monotonicMs()))
    const soon = () => new Promise<true>((resolve) => clock.after(30, () => resolve(true)))
    await passing(clock, soon, { what: 'what takes a moment' })
    expect([clock.monotonicMs(), firedMs]).toEqual([250, [200]])
  })

  it('gives up what the condition waits for in vain', async () => {
    const never = () => new Promise<true>(() => {})
    const waiting = passing(new TestClock(), never, { what: 'what never comes', timeoutMs: 10 })
    await expect(waiting).rejects.toThrow('still waiting for what never comes')
  })
})

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
})

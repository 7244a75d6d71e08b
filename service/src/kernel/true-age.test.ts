import { expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { TrueAge } from './true-age.ts'

const HOUR_MS = 3_600_000

it('counts what has passed, not what the clock was put forward by', async () => {
  const clock = new TestClock()
  const age = new TrueAge(clock)
  const before = clock.now()
  await clock.advance(60_000)
  expect(age.of(before)).toBe(60_000)
  clock.jump(HOUR_MS)
  const after = clock.now()
  expect([age.of(before), age.of(after)]).toEqual([60_000, 0])
  await clock.advance(60_000)
  clock.jump(24 * HOUR_MS)
  expect([age.of(before), age.of(after), age.of(clock.now())]).toEqual([120_000, 60_000, 0])
})

it('takes no going wrong of a clock for a setting, which adds up all the same', async () => {
  const clock = new TestClock()
  const age = new TrueAge(clock)
  const before = clock.now()
  for (let n = 0; n < 3; n += 1) {
    clock.jump(600)
    age.look()
  }
  expect(age.of(before)).toBe(600)
})

it('tells too little of what was before a clock was put back', async () => {
  const clock = new TestClock()
  const age = new TrueAge(clock)
  const before = clock.now()
  clock.jump(-HOUR_MS)
  expect(age.of(before)).toBe(-HOUR_MS)
  clock.jump(HOUR_MS)
  expect(age.of(before)).toBeLessThanOrEqual(0)
})

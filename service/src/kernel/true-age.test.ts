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

it('tells too little of what a clock has shown twice, as it was put back, and never too much', async () => {
  const clock = new TestClock()
  const age = new TrueAge(clock)
  const before = clock.now()
  await clock.advance(60_000)
  clock.jump(-HOUR_MS)
  expect(age.of(before)).toBe(60_000)
  await clock.advance(HOUR_MS)
  // An hour more has passed, unless it is of the second time that the clock has shown this.
  expect(age.of(before)).toBe(60_000)
})

it('is right of what began once a clock was put right again, which had been put forward', async () => {
  const clock = new TestClock()
  const age = new TrueAge(clock)
  const before = clock.now()
  await clock.advance(60_000)
  clock.jump(24 * HOUR_MS)
  age.look()
  await clock.advance(60_000)
  clock.jump(-24 * HOUR_MS)
  await clock.advance(60_000)
  const after = clock.now()
  await clock.advance(2 * HOUR_MS)
  expect([age.of(before), age.of(after)]).toEqual([2 * HOUR_MS + 180_000, 2 * HOUR_MS])
})

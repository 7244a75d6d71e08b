import { expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { lostTogether } from './lost-together.ts'

it('tells once of connections that are lost together, with their number, and again of later ones', async () => {
  const clock = new TestClock()
  const told: [string, number][] = []
  const lost = lostTogether(clock, ({ message }, connections) => told.push([message, connections]))
  for (const message of ['first', 'second', 'third']) lost(new Error(message))
  expect(told).toEqual([])
  await clock.advance(1_000)
  lost(new Error('later'))
  await clock.advance(1_000)
  expect(told).toEqual([
    ['first', 3],
    ['later', 1],
  ])
})

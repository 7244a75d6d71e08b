import { expect, it } from 'vitest'
import { attemptsText } from './attempts-text.ts'

it.each([
  [1, [30, 60], 'One, and no more'],
  [2, [1, 60], '2 at most, after 1 minute'],
  [2, [30, 60], '2 at most, after 30 minutes'],
  [3, [30, 60, 120], '3 at most, after 30, 60 minutes'],
])('of %i calls at most only the waits are told that there are', (most, waits, text) => {
  expect(attemptsText(most, waits)).toBe(text)
})

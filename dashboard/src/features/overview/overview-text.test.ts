import { expect, it } from 'vitest'
import { answeredText } from './overview-text.ts'

it.each([
  [0, 0, 'No calls.'],
  [1, 1, 'One call, which was answered.'],
  [1, 0, 'One call, which was not answered.'],
  [12, 9, '12 calls, 9 of them answered.'],
])('%i calls, %i of them answered, are a sentence', (calls, answered, sentence) => {
  expect(answeredText({ calls, answered })).toBe(sentence)
})

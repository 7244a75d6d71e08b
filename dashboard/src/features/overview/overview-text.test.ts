import { expect, it } from 'vitest'
import { answeredText, minutesText, numberOf, scoreText, spokenText } from './overview-text.ts'

it.each([
  [0, 0, 'No calls.'],
  [1, 1, 'One call, which was answered.'],
  [1, 0, 'One call, which was not answered.'],
  [12, 9, '12 calls, 9 of them answered.'],
])('%i calls, %i of them answered, are a sentence', (calls, answered, sentence) => {
  expect(answeredText({ calls, answered })).toBe(sentence)
})

it.each([
  [0, '0 calls'],
  [1, '1 call'],
  [2, '2 calls'],
])('%i of something are told in words that fit', (count, text) => {
  expect(numberOf(count, 'call')).toBe(text)
})

it.each([
  [0, '0 minutes were spoken.'],
  [1.02, 'One minute was spoken.'],
  [1.48, '1.5 minutes were spoken.'],
  [12, '12 minutes were spoken.'],
])('%d minutes are a sentence that says what the chart shows', (minutes, sentence) => {
  expect(spokenText(minutes)).toBe(sentence)
})

it.each([
  [0.37, '0.4'],
  [18, '18'],
  [1234.56, '1,234.6'],
])('%d minutes are a figure that is not nothing where somebody has spoken', (minutes, text) => {
  expect(minutesText(minutes)).toBe(text)
})

it.each([
  [0.7967, '79%'],
  [0.8, '80%'],
  [null, '–'],
])('an average score of %s is written as that of a call is', (score, text) => {
  expect(scoreText(score)).toBe(text)
})

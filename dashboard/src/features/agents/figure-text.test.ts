import { expect, it } from 'vitest'
import { figureText } from './figure-text.ts'

it.each([
  [0.6967, '0.6967'],
  [0.7, '0.70'],
  [1, '1.00'],
  [null, '–'],
])('writes a figure of %s so that it is not taken for a higher one', (figure, text) => {
  expect(figureText(figure)).toBe(text)
})

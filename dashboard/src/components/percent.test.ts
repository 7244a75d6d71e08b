import { expect, it } from 'vitest'
import { percentText } from './percent.ts'

it.each([
  [0.8, '80%'],
  [0.7967, '79%'],
  [0.9999, '99%'],
  [0.57, '57%'],
  [1, '100%'],
  [0, '0%'],
])('writes a score of %d as no better than it is', (score, text) => expect(percentText(score)).toBe(text))

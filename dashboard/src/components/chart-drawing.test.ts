import { expect, it } from 'vitest'
import { stepsOf } from './chart-drawing.ts'

it('stands no line for a half where there is none', () => {
  expect(Math.min(...stepsOf(true))).toBe(1)
  expect(Math.min(...stepsOf())).toBe(0.1)
})

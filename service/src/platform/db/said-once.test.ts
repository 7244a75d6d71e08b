import { expect, it } from 'vitest'
import { AppError } from '../../kernel/errors.ts'
import { SaidOnce } from './said-once.ts'

const away = new AppError('unavailable', 'The database is not reachable. Try again.')
const fault = new TypeError('undefined is not a function')

/** Which of these failures are said, in their order; null is a time at which it was done. */
function saidOf(outcomes: (Error | null)[]): Error[] {
  const once = new SaidOnce()
  const said: Error[] = []
  for (const outcome of outcomes) {
    if (outcome === null) once.done()
    else once.failed(outcome, () => said.push(outcome))
  }
  return said
}

it('says once that the database is away, and again after it was back', () => {
  expect(saidOf([away, away, away])).toEqual([away])
  expect(saidOf([away, away, null, away, away])).toEqual([away, away])
})

it('says everything else each time, and what comes after it', () => {
  expect(saidOf([fault, fault, away, away, fault, away])).toEqual([fault, fault, away, fault, away])
})

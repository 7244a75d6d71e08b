import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'

const ANSWER_WITHIN_MS = 1_000

/**
 * A look-up of credentials that gives up after a second: it is the first that each request of a tenant asks the database, so
 * one that is silent is told as quickly as one that refuses. It throws AppError `unavailable` then.
 */
export function promptly<Asked extends unknown[], T>(
  clock: Clock,
  find: (...asked: Asked) => Promise<T>,
): (...asked: Asked) => Promise<T> {
  const late = () => new AppError('unavailable', 'The database is not reachable. Try again.')
  return (...asked) => withTimeout(clock, find(...asked), ANSWER_WITHIN_MS, late)
}

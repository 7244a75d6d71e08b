import { AppError } from '../kernel/errors.ts'

/** Why nobody is asked whose a credential is: its address has guessed too much. */
export function crowded(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('rate_limited', 'Too many requests from this address: wait a second before the next one.', {
    headers,
  })
}

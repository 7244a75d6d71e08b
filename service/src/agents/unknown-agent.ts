import { AppError } from '../kernel/errors.ts'

/** What whoever asks for an agent that the tenant does not have is told. */
export function unknownAgent(): AppError {
  return new AppError('not_found', 'The tenant has no such agent.')
}

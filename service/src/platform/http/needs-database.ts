import type { preParsingAsyncHookHandler } from 'fastify'
import { AppError } from '../../kernel/errors.ts'

/**
 * Makes the hook of a service without a database: what needs one is refused, once it is known who asks and before the body is
 * read.
 *
 * @throws AppError `database_not_configured`.
 */
export function expectDatabase(needsNone: (method: string, route: string) => boolean): preParsingAsyncHookHandler {
  return async ({ method, routeOptions, is404 }) => {
    if (is404 || needsNone(method, routeOptions.url ?? '')) return
    throw new AppError(
      'database_not_configured',
      'This needs a database, and the service runs without one: set DATABASE_URL to that of a PostgreSQL server, or leave it empty for the embedded one.',
    )
  }
}

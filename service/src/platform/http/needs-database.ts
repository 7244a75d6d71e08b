import type { preParsingAsyncHookHandler } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { knownActorOf } from './guards.ts'

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

type Prompt = {
  asks: (method: string, route: string) => boolean
  /** Resolves when the database answers. @throws AppError `unavailable` when it does not soon. */
  ping: () => Promise<void>
}

/**
 * Makes the hook that tells holders of the admin key soon that the database is silent. Of everybody else it has been asked who they
 * are.
 *
 * @throws AppError `unavailable`.
 */
export function expectAnswer({ asks, ping }: Prompt): preParsingAsyncHookHandler {
  return async (request) => {
    const { method, routeOptions, is404 } = request
    if (is404 || knownActorOf(request)?.kind !== 'key' || !asks(method, routeOptions.url ?? '')) return
    await ping()
  }
}

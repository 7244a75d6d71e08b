import { QueryCache, QueryClient } from '@tanstack/react-query'
import { asFailure } from './failure.ts'
import { sessionQuery } from './session.ts'

const FRESH_MS = 5_000
const RETRIES = 2
/** Nobody answered, or whoever stands before the service could not. */
const PASSING = new Set([0, 502, 503, 504])

/** Keeps what the service has answered. A session that is over is asked for again, which leads to the login. */
export function makeQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (asFailure(error).status === 401) void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (count, error) => count < RETRIES && PASSING.has(asFailure(error).status),
      },
      mutations: { retry: false },
    },
  })
  return client
}

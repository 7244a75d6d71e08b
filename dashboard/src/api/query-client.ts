import { QueryCache, QueryClient } from '@tanstack/react-query'
import { api } from './client.ts'
import { asFailure } from './failure.ts'
import { personIn, sessionQuery } from './session.ts'

const FRESH_MS = 5_000
const RETRIES = 2
/** Nobody answered, or whoever stands before the service could not. */
const PASSING = new Set([0, 502, 503, 504])
/** Who is logged in, and the ways in. */
const LOGIN = '/api/v1/admin/auth/'

/** Keeps what the service has answered. Whatever is refused for want of a login has the session asked for, which leads to one. */
export function makeQueryClient(): QueryClient {
  const known = () => client.getQueryData(sessionQuery.queryKey)
  const look = (status: number) => {
    const session = known()
    if (status !== 401 || !session || personIn(session) === null) return
    void client.invalidateQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false })
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => look(asFailure(error).status) }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (count, error) => count < RETRIES && PASSING.has(asFailure(error).status),
      },
      mutations: { retry: false },
    },
  })
  api.use({
    // Without a session the service would refuse it, and count it as a stranger's, who may ask for little.
    onRequest: ({ schemaPath }) => (known()?.ended && !schemaPath.startsWith(LOGIN) ? noSession() : undefined),
    onResponse: ({ response }) => look(response.status),
  })
  return client
}

function noSession(): Response {
  return Response.json(
    { ok: false, code: 'unauthorized', error: 'The session is over. Log in again.' },
    { status: 401 },
  )
}

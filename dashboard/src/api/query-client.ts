import { QueryCache, QueryClient } from '@tanstack/react-query'
import { api } from './client.ts'
import { asFailure, sessionOver } from './failure.ts'
import { personIn, sessionQuery } from './session.ts'

const FRESH_MS = 5_000
const RETRIES = 2
/** Nobody answered, or whoever stands before the service could not. */
const PASSING = new Set([0, 502, 503, 504])
/** The session is over, or whoever it is of may do less than before. */
const SESSION_CHANGED = new Set([401, 403])
/**
 * Asked for, and failed, also where the browser knows of no network: it would wait in silence else, behind a page that says what was so, and what was
 * pressed would be sent whenever there is one again.
 */
const NETWORK = { networkMode: 'always' } as const
/** Who is logged in, and the ways in. */
const LOGIN = '/api/v1/admin/auth/'

/** Keeps what the service has answered. Whatever is refused for want of a login or of a role has the session asked for, which leads to one, or shows the pages of that role. */
export function makeQueryClient(): QueryClient {
  const known = () => client.getQueryData(sessionQuery.queryKey)
  const look = (status: number) => {
    const session = known()
    if (!SESSION_CHANGED.has(status) || !session || personIn(session) === null) return
    void client.invalidateQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false })
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => look(asFailure(error).status) }),
    defaultOptions: {
      queries: {
        ...NETWORK,
        refetchOnReconnect: true,
        staleTime: FRESH_MS,
        retry: (count, error) => count < RETRIES && PASSING.has(asFailure(error).status),
      },
      mutations: { ...NETWORK, retry: false },
    },
  })
  api.use({
    // Without a session the service would refuse it, and count it as a stranger's, who may ask for little.
    onRequest: ({ request, schemaPath }) =>
      known()?.ended && !schemaPath.startsWith(LOGIN) ? noSession(request) : undefined,
    onResponse: ({ request, response, schemaPath }) => {
      look(response.status)
      return response.status === 401 && !schemaPath.startsWith(LOGIN) ? noSession(request, response) : undefined
    },
  })
  return client
}

/** The refusal, to be read as one of the service's. */
function noSession({ method }: Request, refused?: Response): Response {
  const requestId = refused?.headers.get('x-request-id') ?? undefined
  const { code, message: error } = sessionOver(method === 'GET', requestId)
  return Response.json({ ok: false, code, error, request_id: requestId }, { status: 401 })
}

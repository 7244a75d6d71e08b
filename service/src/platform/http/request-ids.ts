import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'

/** What we take over from a client: nothing that could break a header, a log line or a query for it. */
const CLIENT_ID = /^[A-Za-z0-9_-]{8,64}$/

const ids = new WeakMap<IncomingMessage, string>()

/** The id of a request, the same whenever it is asked for: what the client gave it, when that is one we can use, else a new one. */
export function requestIdOf(request: IncomingMessage, clock: Clock): string {
  const known = ids.get(request)
  if (known !== undefined) return known
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && CLIENT_ID.test(given) ? given : newRequestId(clock)
  ids.set(request, id)
  return id
}

/** An id for what never became a request. */
export function newRequestId(clock: Clock): string {
  return newId(clock.now())
}

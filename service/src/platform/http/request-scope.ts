import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestScope } from '../current-request.ts'

/**
 * Has every line that is logged on behalf of a request tell its id, on whatever floor. A WebSocket is no request: nothing of a call runs
 * inside of one.
 */
export function rememberRequests(server: FastifyInstance): void {
  const scopes = new WeakMap<FastifyRequest, RequestScope>()
  server.addHook('onRequest', (request, reply, done) => {
    if (request.headers.upgrade !== undefined) return done()
    const scope = new RequestScope({ id: request.id, isReading: isReading(request) }, reply.raw)
    scopes.set(request, scope)
    scope.run(done)
  })
  // A body comes in by events of its connection, which know of no request.
  server.addHook('preValidation', (request, _reply, done) => {
    const scope = scopes.get(request)
    if (scope) scope.run(done)
    else done()
  })
}

/** What the probes ask is not: it is asked whether calls can be taken. */
function isReading({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && url.startsWith('/api/')
}

import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { tenantOrNull } from './guards.ts'
import type { Metrics } from './metrics.ts'

/** Asked all the time by machines that act on the answer: a 503 of theirs is no news. */
const PROBES = new Set<string | null>(['/livez', '/readyz', '/health', '/metrics'])

/** Not a status that is ever sent: what is recorded when the client went away before it had its answer. */
const CLIENT_GONE = 499

type Deps = { metrics: Metrics; clock: Clock }

/** The hook that counts and logs each request when it is over. */
export function recordAnswers(deps: Deps): onRequestHookHandler {
  return (request, reply, done) => {
    recordWhenOver(request, reply, deps)
    done()
  }
}

/**
 * Counts a request and writes its line in the log once it was answered or given up: at `debug`, from status 500 on at `error`
 * (not for the probes). The line tells the pattern of the route and not the address, because addresses hold ids, numbers and
 * tokens.
 */
export function recordWhenOver(request: FastifyRequest, reply: FastifyReply, { metrics, clock }: Deps): void {
  const startMs = clock.monotonicMs()
  // The framework's own hook does not run for a request that is given up.
  reply.raw.once('close', () => {
    if (becameAnotherProtocol(request, reply)) return
    const route = request.routeOptions.url ?? null
    const { method } = request
    const status = statusOf(reply)
    const durationMs = clock.monotonicMs() - startMs
    metrics.observeRequest({ method, route, status, durationMs })
    const line = { ...ofTenant(request), method, route, status, duration_ms: Math.round(durationMs * 10) / 10 }
    if (status >= 500 && !PROBES.has(route)) request.log.error(line, 'request answered')
    else request.log.debug(line, 'request answered')
  })
}

/** Whose request it was, for the lines that are written of it; nothing while that is not known. */
export function ofTenant(request: FastifyRequest): { tenant_id?: TenantId } {
  const tenantId = tenantOrNull(request)
  return tenantId === null ? {} : { tenant_id: tenantId }
}

/** An upgraded connection is as long as a call: it is not the duration of a request. */
function becameAnotherProtocol({ headers }: FastifyRequest, { raw }: FastifyReply): boolean {
  return headers.upgrade !== undefined && !raw.headersSent
}

const refused = new WeakMap<ServerResponse, number>()

/** Notes that a request was refused on its bare connection: that counts, whatever its handler has still to say. */
export function recordRefused(response: ServerResponse, status: number): void {
  refused.set(response, status)
}

function statusOf({ raw }: FastifyReply): number {
  const status = refused.get(raw)
  if (status !== undefined) return status
  return raw.writableEnded || raw.statusCode >= 400 ? raw.statusCode : CLIENT_GONE
}

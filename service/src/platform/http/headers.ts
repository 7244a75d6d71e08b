import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import type { Clock } from '../../kernel/clock.ts'
import { faultAt } from '../../kernel/errors.ts'

/** On every answer; a route that serves pages or files sets what it needs instead. */
export const BASE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Gives an answer its request id and what keeps browsers and caches from misusing it. */
export function setBaseHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(BASE_HEADERS).header('x-request-id', request.id)
}

/** The hook that gives every answer its headers. */
export const giveBaseHeaders: onRequestHookHandler = (request, reply, done) => {
  setBaseHeaders(request, reply)
  done()
}

/** The hook that tells in every answer what time it is for the service, in ms: `date` is by the clock of the machine, or of a proxy. */
export function tellTime(clock: Pick<Clock, 'now'>): onSendHookHandler {
  return (_request, reply, payload, done) => {
    reply.header('x-service-time', String(Math.round(clock.now())))
    done(null, payload)
  }
}

/** The hook that asks clients to come back over another connection while this server stops. */
export function closeWhileStopping(isStopping: () => boolean): onSendHookHandler {
  return (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close')
    done(null, payload)
  }
}

/** The hook that refuses HTTP/1.1 without a host, as its standard asks for: Node would do so in a shape of its own. */
export const requireHost: onRequestHookHandler = ({ raw }, _reply, done) => {
  const lacking = raw.headers.host === undefined && raw.httpVersion !== '1.0'
  const headers = { connection: 'close' }
  done(lacking ? faultAt('/headers/host', 'The request has no Host header.', headers) : undefined)
}

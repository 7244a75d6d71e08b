import { type IncomingMessage, METHODS, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../log.ts'
import { recordRefused } from './access-log.ts'
import { errorBody } from './errors.ts'
import { BASE_HEADERS } from './headers.ts'
import type { Listener } from './listener.ts'
import { newRequestId, requestIdOf } from './request-ids.ts'

type Deps = { listener: Listener; clock: Clock; log: Log }

const noHttp = () => new AppError('invalid_request', 'The request is not valid HTTP.')

const REFUSALS: Record<string, () => AppError> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => new AppError('request_timeout', 'The request took too long to arrive.'),
  HPE_INVALID_EOF_STATE: () => new AppError('invalid_request', 'The request ended before it was complete.'),
  HPE_HEADER_OVERFLOW: () => new AppError('headers_too_large', 'The headers of the request are too large.'),
}

/**
 * Answers, on the bare socket, a request that never became one: bytes that are not HTTP, headers beyond the limit, a client
 * that takes too long. The connection is closed after it.
 */
export function answerClientError(error: Error & { code: string }, socket: Socket, deps: Deps): void {
  const exchange = deps.listener.exchangeOf(socket)
  // An answer is out in part or on its way: these bytes would be taken for it, for the rest of it, or for that to the next request.
  const isBeingAnswered = exchange !== null && (exchange.response.headersSent || exchange.request.complete)
  const hasAnswer = isBeingAnswered || deps.listener.sendsAnswered(socket)
  const isAnothers = deps.listener.waitsItsTurn(socket)
  if (!socket.writable || error.code === 'ECONNRESET' || hasAnswer || isAnothers) {
    socket.destroy()
    return
  }
  const refusal = REFUSALS[error.code]?.() ?? noHttp()
  const requestId = exchange ? requestIdOf(exchange.request, deps.clock) : newRequestId(deps.clock)
  if (exchange) recordRefused(exchange.response, refusal.status)
  deps.log.debug({ request_id: requestId, status: refusal.status, code: error.code }, 'connection refused')
  socket.write(rawAnswer(refusal, requestId))
  socket.destroySoon()
}

const methods = new Set<string | undefined>(METHODS)

/** Whether the method is one of HTTP: of what names another protocol or none, as cameras are asked, Node takes those of that protocol too. */
export function hasMethodOfHttp({ method }: IncomingMessage): boolean {
  return methods.has(method)
}

/** Answers a request of another protocol, for whose method no route can be looked for, as what is no HTTP. The connection is closed after it. */
export function refuseForeign(request: IncomingMessage, response: ServerResponse, deps: Omit<Deps, 'listener'>): void {
  const [refusal, requestId] = [noHttp(), requestIdOf(request, deps.clock)]
  const { headers, body } = bareAnswer(refusal, requestId)
  deps.log.debug({ request_id: requestId, status: refusal.status, method: request.method }, 'connection refused')
  response.writeHead(refusal.status, headers).end(body)
}

function rawAnswer(refusal: AppError, requestId: string): string {
  const { headers, body } = bareAnswer(refusal, requestId)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`
}

function bareAnswer(refusal: AppError, requestId: string): { headers: Record<string, string | number>; body: string } {
  const body = JSON.stringify(errorBody(refusal, requestId))
  const headers = {
    ...BASE_HEADERS,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  return { headers, body }
}

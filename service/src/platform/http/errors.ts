import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, type FaultDetail, faultAt, type RefusalDetail } from '../../kernel/errors.ts'
import { ofTenant } from './access-log.ts'
import { sendRefusalPage } from './pages/refusal-page.ts'

/** The body of a refusal or failure as it goes over the wire: the schema is `ErrorBody`. */
type WireError = {
  ok: false
  error: string
  code: ErrorCode
  request_id: string
  details?: FaultDetail[]
  refusals?: RefusalDetail[]
}

const INTERNAL = 'Internal error. Repeat the request if that is safe, and give the request id if it fails again.'

/** Whoever guesses addresses is led to all that there are. */
export const NOTHING_HERE =
  'There is nothing at this address: see /swagger-ui for those that there are, or /api-docs/openapi.json.'

const TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE'

const noFileLeft = () => new AppError('unavailable', 'The service has as many files open as it may. Try again.')

/** What the parser and the router of the framework, and the system, refuse, in our words. */
const FRAMEWORK_ERRORS: Record<string, (request: FastifyRequest) => AppError> = {
  FST_ERR_BAD_URL: () => faultAt('/path', 'The path is not well-formed: its percent-encoding is broken.'),
  FST_ERR_MAX_PARAM_LENGTH: () => faultAt('/path', 'A part of the path is too long.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => faultAt('/body', 'The body is not as long as its Content-Length says.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ server, headers }) => {
    const isJson = server.hasContentTypeParser('application/json')
    const wanted = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
    const fault = headers['content-type'] ? 'has a content type that is not taken here' : 'has no content type'
    return new AppError('unsupported_media_type', `The body ${fault}: send ${wanted}.`)
  },
  EMFILE: noFileLeft,
  ENFILE: noFileLeft,
  ECONNRESET: () => new AppError('request_timeout', 'The request did not arrive in full.'),
}

/** For errors of plugins that carry no more than a status. */
const BY_STATUS: Record<number, () => AppError> = {
  401: () => new AppError('unauthorized', 'The credentials are missing or wrong.'),
  403: () => new AppError('forbidden', 'This is not allowed.'),
  404: () => new AppError('not_found', NOTHING_HERE),
  429: () => new AppError('rate_limited', 'Too many requests: wait before the next one.'),
}

/** Turns whatever was thrown into what the client may see of it; what is not ours or the framework's is `internal`. */
function toAppError(thrown: FastifyError | Error, request: FastifyRequest): AppError {
  if (thrown instanceof AppError) return thrown
  const { code = '', statusCode = 500 } = thrown as Partial<FastifyError>
  if (code === TOO_LARGE) return tooLarge(request.routeOptions.bodyLimit)
  const ours = FRAMEWORK_ERRORS[code] ?? BY_STATUS[statusCode]
  if (ours) return ours(request)
  if (statusCode >= 400 && statusCode < 500) return new AppError('invalid_request', 'The request cannot be understood.')
  return new AppError('internal', INTERNAL, { cause: thrown })
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('body_too_large', `The body is larger than ${limitBytes / 1024} KiB.`)
}

/**
 * The framework closes the connection of a body that is too large, which cuts off whoever still sends it: they read a broken connection,
 * and not what was wrong. What was announced is let come, for as long as any request may take, and dropped.
 */
function letAnnouncedCome({ code }: Partial<FastifyError>, { headers }: FastifyRequest, reply: FastifyReply): void {
  if (code === TOO_LARGE && headers['content-length'] !== undefined) reply.removeHeader('connection')
}

/** The one shape of every error. What is internal is told to nobody, whatever its message says. */
export function errorBody(error: AppError, requestId: string): WireError {
  const details = detailsOf(error)
  return {
    ok: false,
    error: error.code === 'internal' ? INTERNAL : error.message,
    code: error.code,
    request_id: requestId,
    ...(details ? { details } : {}),
    ...(error.refusals ? { refusals: error.refusals } : {}),
  }
}

/** Every 400 has them, whoever refused without a place to name. */
function detailsOf({ details, status, message }: AppError): FaultDetail[] | undefined {
  return details ?? (status === 400 ? [{ path: '', message }] : undefined)
}

/** Seconds after which what is away may be there again. */
const RETRY_AFTER = '5'

/** A refusal that says when to come again has said it better. */
function laterHeaders({ code, isLasting }: AppError): Record<string, string> {
  return code === 'unavailable' && !isLasting ? { 'retry-after': RETRY_AFTER } : {}
}

/** Answers with an error, and logs it once when it is one of ours to mend (500 and above) or has something to tell. */
export function answerError(thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toAppError(thrown, request)
  // Without a database that is how the service was set up: there is nothing to mend.
  if (error.code === 'database_not_configured') request.log.debug(ofTenant(request), 'request refused')
  // We decided so, as where there is no room: there is no fault to trace.
  else if (thrown instanceof AppError && error.code === 'unavailable' && !isTraced(error))
    request.log.warn({ ...ofTenant(request), code: error.code, sentence: error.message }, 'request refused')
  else if (error.status >= 500) request.log.error({ ...ofTenant(request), err: thrown }, 'request failed')
  else if (isTraced(error)) request.log.info({ ...ofTenant(request), err: error }, 'request refused')
  letAnnouncedCome(thrown, request, reply)
  const body = errorBody(error, request.id)
  reply.code(error.status).headers({ ...laterHeaders(error), ...error.headers })
  return sendRefusalPage(request, reply, body) ? reply : reply.send(body)
}

/** Whether there is more to tell of it than its sentence. */
function isTraced({ detail, cause }: AppError): boolean {
  return detail !== undefined || cause !== undefined
}

import type { components } from './public-api.ts'

/** What every answer that is no success holds. */
export type ErrorBody = components['schemas']['Error']

/** What those on the way say by their status alone; of the others, what is asked is at fault below 500. */
const CODES: Record<number, ErrorBody['code']> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'request_timeout',
  413: 'body_too_large',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/**
 * What was answered, if it is Parley's own words. A proxy, a load balancer and an answer that broke off have others, or none: then
 * the status in the shape of an error, whose `request_id` may be empty.
 */
export function refusalOf(answered: unknown, { status, headers }: Response): ErrorBody {
  if (isErrorBody(answered)) return answered
  const code = CODES[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : 'internal')
  const error = `HTTP ${status}, without an error of Parley's: somebody on the way may have answered.`
  return { ok: false, error, code, request_id: headers.get('x-request-id') ?? '' }
}

function isErrorBody(value: unknown): value is ErrorBody {
  if (typeof value !== 'object' || value === null) return false
  return 'code' in value && typeof value.code === 'string' && 'error' in value && typeof value.error === 'string'
}

/** A refusal that is thrown, where there is no answer that it could be in: of events that are watched. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError'
  readonly body: ErrorBody
  readonly response: Response

  constructor(body: ErrorBody, response: Response) {
    super(body.error)
    this.body = body
    this.response = response
  }
}

/** Whether it is worth another try. Whatever is no refusal is a connection. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return true
  const { status } = error.response
  return status === 408 || status === 429 || status >= 500
}

/** What a refusal asks to wait. */
export function askedMs(error: unknown): number {
  return error instanceof ParleyError ? Number(error.response.headers.get('retry-after') ?? 0) * 1_000 || 0 : 0
}

import { STATUS_CODES } from 'node:http'
import { AppError, ERROR_CODES, type ErrorCode } from '../../../kernel/errors.ts'
import { type HeaderName, headerRefs } from './headers.ts'
import type { Note } from './notes.ts'
import type { DescribedRoute } from './routes.ts'

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

type Facts = { takesBody: boolean; isSocket: boolean; asksForVersion: boolean; hasParameters: boolean }

/**
 * The refusals and failures that a route can give: of those that its schema lists, which may be all there are, the ones that
 * what it takes and who it is for leave possible.
 */
export function refusalsOf(route: DescribedRoute, note: Note): number[] {
  const facts = factsOf(route, note)
  const listed = Object.keys(route.schema.response ?? {}).map(Number)
  const refusals = listed.filter((status) => status >= 400)
  const alsoMediaType = WRITES.has(route.method) && refusals.includes(413) && !refusals.includes(415) ? [415] : []
  const without = new Set(note.without ?? [])
  return [...refusals, ...alsoMediaType]
    .filter((status) => !without.has(status) && (POSSIBLE[status]?.(route, facts) ?? true))
    .sort((a, b) => a - b)
}

function factsOf({ schema }: DescribedRoute, { body, socket }: Note): Facts {
  const headers = Object.keys(schema.headers?.properties ?? {})
  return {
    takesBody: schema.body !== undefined || body !== undefined,
    isSocket: socket !== undefined,
    asksForVersion: headers.includes('if-match') || headers.includes('if-none-match'),
    hasParameters: Object.keys(schema.params?.properties ?? {}).length > 0,
  }
}

/** A status that is not here is possible wherever it is listed. */
const POSSIBLE: Record<number, (route: DescribedRoute, facts: Facts) => boolean> = {
  401: ({ surface }) => surface === 'runtime' || surface === 'admin' || surface === 'callbacks',
  403: ({ surface }) => surface === 'runtime' || surface === 'admin',
  // An administrator may act for a tenant that is not there.
  404: ({ surface }, { hasParameters, isSocket }) =>
    !isSocket && (surface === 'admin' || surface === 'runtime' || hasParameters),
  409: ({ method, surface }) => WRITES.has(method) && surface !== 'public' && surface !== 'callbacks',
  412: (_route, { asksForVersion }) => asksForVersion,
  // Also where nothing is to be sent: whatever is sent all the same is read before it is refused.
  413: ({ method }, { takesBody }) => takesBody || WRITES.has(method),
  415: ({ method }, { takesBody }) => takesBody || WRITES.has(method),
}

/** What each refusal means, in a sentence. */
const MEANS: Record<number, string> = {
  400: 'The request is not what the operation takes; `details` says what is wrong, and where.',
  401: 'The credential is missing, wrong or revoked; of a callback: the signature does not fit.',
  403: 'The role may not do this, or the page that asks is of another origin.',
  404: 'There is no such thing, or it belongs to another tenant. Admin paths: no admin credential is configured.',
  409: 'The state does not allow it.',
  412: 'If-Match or If-None-Match does not hold: read again.',
  413: 'The body is too large.',
  415: 'The body has another content type than the operation takes.',
  416: 'The range begins behind the end.',
  422: 'The Idempotency-Key was used with another body.',
  426: 'This address takes WebSocket connections only.',
  429: 'Too many requests of this tenant, or from this address.',
  500: 'A fault of ours: give the request id.',
  502: 'A provider failed.',
  503: 'What the operation needs is away: retry what is safe to repeat as Retry-After says; without that header something has to be set up first.',
}

const EXTRA_HEADERS: Record<number, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  416: ['Content-Range'],
  426: ['Upgrade'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

/** The name of a refusal among the components: `NotFound`. */
export function refusalName(status: number): string {
  return (STATUS_CODES[status] ?? `Status${status}`).replaceAll(/[^A-Za-z]/g, '')
}

/** A refusal as a component: what it means, which codes it may have, an example. */
export function refusal(status: number): object {
  const codes = codesOf(status)
  const [code] = codes
  const name = STATUS_CODES[status] ?? ''
  const told = codes.length === 0 ? '' : ` Codes: ${codes.map((each) => `\`${each}\``).join(', ')}.`
  return {
    description: `${name}. ${MEANS[status] ?? ''}${told}`,
    headers: headerRefs(['X-Request-Id', ...(EXTRA_HEADERS[status] ?? [])]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        ...(code && { example: exampleOf(status, code) }),
      },
    },
  }
}

function codesOf(status: number): ErrorCode[] {
  return ERROR_CODES.filter((code) => new AppError(code, '').status === status)
}

function exampleOf(status: number, code: ErrorCode): object {
  const request_id = '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a61'
  const error = (MEANS[status] ?? '').split(/[;:]/)[0]?.replace(/\.?$/, '.')
  if (status !== 400) return { ok: false, error, code, request_id }
  if (code !== 'invalid_request') return { ok: false, error, code, request_id, details: [{ path: '', message: error }] }
  const message = 'must be at least 3'
  const details = [{ path: '/body/limits/idle_seconds', message }]
  return { ok: false, error: `limits.idle_seconds ${message}.`, code, request_id, details }
}

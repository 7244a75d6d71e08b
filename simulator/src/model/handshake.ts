import type { IncomingMessage } from 'node:http'
import type { ModelFaults } from './faults.ts'

/** Why a request is not taken. */
type Refused = { kind: 'refused'; status: number; code: string; message: string }

/** What becomes of a request to open a session. */
export type Admission =
  | { kind: 'open'; model: string; script: string | null; error: { code: string; message: string } | null }
  | Refused

const BETA_MESSAGE =
  'The Realtime Beta API is no longer supported. Please use /v1/realtime with the shape of the generally available API.'
const STATUS_CODES: Record<number, { code: string; message: string }> = {
  401: { code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  403: { code: 'account_deactivated', message: 'This account is not active.' },
  404: { code: 'model_not_found', message: 'The model does not exist or you do not have access to it.' },
  429: { code: 'rate_limit_exceeded', message: 'Too many requests. Please slow down.' },
}

/**
 * Judges a request to open a session, as the real server does: a path that ends in `/realtime`, exactly one of `model`,
 * `call_id` and `intent`, a key, and nothing of the retired beta. `apiKey` null takes any key.
 */
export function admit(request: IncomingMessage, apiKey: string | null, faults: ModelFaults): Admission {
  if (faults.handshake_status) return refused(faults.handshake_status)
  const url = addressOf(request)
  if (!url) return refused(400, 'invalid_url', 'Invalid URL.')
  if (!url.pathname.endsWith('/realtime')) return refused(404, 'invalid_url', `Invalid URL (GET ${url.pathname})`)
  const unknown = refusedKey(request, apiKey)
  if (unknown) return unknown
  const given = ['model', 'call_id', 'intent'].filter((name) => url.searchParams.has(name))
  const model = url.searchParams.get('model')
  if (given.length !== 1) return refused(400, 'invalid_request', 'Give exactly one of model, call_id and intent.')
  if (!model) return refused(400, 'not_rehearsed', 'This rehearsal opens sessions by model only.')
  const isBeta = request.headers['openai-beta'] !== undefined
  const error = isBeta ? { code: 'beta_api_shape_disabled', message: BETA_MESSAGE } : null
  return { kind: 'open', model, script: url.searchParams.get('script'), error }
}

/** What a request is for; null when that is no address. What stands in front of its path counts for nothing. */
export function addressOf({ url = '/' }: IncomingMessage): URL | null {
  const address = `ws://localhost${url}`
  return URL.canParse(address) ? new URL(address) : null
}

/** The answer to a request that is refused, as bytes for the socket. */
export function refusalResponse(refusal: Refused): string {
  const { status, code, message } = refusal
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  const body = JSON.stringify({ error: { message, type, param: null, code } })
  const head = [
    `HTTP/1.1 ${status} ${status < 500 ? 'Refused' : 'Error'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(status === 429 || status === 503 ? ['retry-after: 1'] : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** Why a key is not taken, or null: there has to be one, and where one is set it has to be that. */
export function refusedKey(request: IncomingMessage, apiKey: string | null): Refused | null {
  const key = keyOf(request)
  if (key === null) return refused(401, 'missing_api_key', 'Missing bearer authentication in header.')
  return apiKey !== null && key !== apiKey ? refused(401) : null
}

function refused(status: number, code?: string, message?: string): Refused {
  const known = STATUS_CODES[status] ?? { code: 'server_error', message: 'The server had an error.' }
  return { kind: 'refused', status, code: code ?? known.code, message: message ?? known.message }
}

function keyOf(request: IncomingMessage): string | null {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const azure = request.headers['api-key']
  return bearer ?? (typeof azure === 'string' && azure !== '' ? azure : null)
}

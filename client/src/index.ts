import createFetchClient, { mergeHeaders } from 'openapi-fetch'
import { type Methods, PARSED_AS } from './answers.ts'
import type { paths } from './public-api.ts'
import { refusalOf } from './refusal.ts'
import { type SessionEvent, type WatchOptions, watchSession } from './watch-session.ts'

/** Where Parley is reached, and as whom. */
export type ParleyOptions = {
  /** The service's public address, such as `https://voice.example.com`. */
  baseUrl: string
  /** A key of the tenant. */
  apiKey: string
  /** Instead of the global `fetch`: for proxies, retries and tests. */
  fetch?: (request: Request) => Promise<Response>
}

/**
 * Calls the tenants' API: `GET`, `POST` and so on take a path of the API's description, and answer `{ data, error, response }`. A
 * list is a string, a recording a `Blob`, and `parseAs` makes something else of either.
 */
export type Parley = Methods & {
  /**
   * What happens in a live session, as it happens: `for await (const { event, data } of parley.watchSession(streamSid))`. Goes on
   * by itself behind a lost connection; ends with the call, with `break`, and by its `signal`.
   */
  watchSession(streamSid: string, options?: WatchOptions): AsyncGenerator<SessionEvent, void, undefined>
}

type Init = { body?: unknown; parseAs?: string | undefined; headers?: Parameters<typeof mergeHeaders>[0] }
type Send = (
  method: string,
  path: string,
  init?: Init,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']
/** Whatever is sent as text is a list. */
const CSV = { 'content-type': 'text/csv; charset=utf-8' }

/** @throws TypeError for a base address that is none. */
export function createParley({ baseUrl, apiKey, fetch }: ParleyOptions): Parley {
  const { origin } = new URL(baseUrl)
  const headers = { authorization: `Bearer ${apiKey}` }
  const client = createFetchClient<paths>({ baseUrl: origin, headers, ...(fetch && { fetch }) })
  const send = sendBy(client.request as unknown as Send)
  const methods = METHODS.map((method) => [method, (path: string, init?: Init) => send(method, path, init)])
  const api = { ...client, request: send, ...Object.fromEntries(methods) } as Methods
  return { ...api, watchSession: (streamSid, options) => watchSession(api, streamSid, options) }
}

/** What openapi-fetch takes for JSON unless told otherwise, and the errors that are none of Parley's. */
function sendBy(request: Send): Send {
  return async (method, path, init = {}) => {
    const isText = typeof init.body === 'string'
    const { data, error, response } = await request(method, path, {
      ...(isText && { bodySerializer: (text: string) => text }),
      ...init,
      parseAs: init.parseAs ?? (PARSED_AS as Record<string, string>)[path],
      headers: isText ? mergeHeaders(CSV, init.headers) : init.headers,
    })
    return response.ok ? { data, response } : { error: refusalOf(error, response), response }
  }
}

export type { components, operations, paths } from './public-api.ts'
export { type ErrorBody, ParleyError } from './refusal.ts'
export type { SessionEvent, WatchOptions } from './watch-session.ts'
export {
  type VerifiedRequest,
  type VerifiedWebhook,
  type VerifyOptions,
  verifyRequest,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookHeaders,
} from './webhook.ts'

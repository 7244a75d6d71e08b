import createFetchClient, { mergeHeaders } from 'openapi-fetch'
import { type Methods, PARSED_AS } from './answers.ts'
import { LiveStreams } from './live-streams.ts'
import type { paths } from './public-api.ts'
import { refusalOf } from './refusal.ts'
import { type SessionEvent, type WatchOptions, watchSession } from './watch-session.ts'

/** Where Parley is reached, and as whom. */
export type ParleyOptions = {
  /** The service's public address, such as `https://voice.example.com`, without a path. */
  baseUrl: string
  /** A key of the tenant. */
  apiKey: string
  /** Instead of the global `fetch`: for proxies, retries and tests. */
  fetch?: Fetch
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

type Fetch = (request: Request) => Promise<Response>
type Init = {
  body?: unknown
  parseAs?: string | undefined
  headers?: Parameters<typeof mergeHeaders>[0]
  signal?: AbortSignal | null
  fetch?: Fetch
}
type Send = (
  method: string,
  path: string,
  init?: Init,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']
/** Whatever is sent as text is a list. */
const CSV = { 'content-type': 'text/csv; charset=utf-8' }

/** @throws TypeError for a base address that is none of HTTP, or has a path: Parley is served under none. */
export function createParley({
  baseUrl,
  apiKey,
  fetch = (request) => globalThis.fetch(request),
}: ParleyOptions): Parley {
  const origin = originOf(baseUrl)
  const headers = { authorization: `Bearer ${apiKey}` }
  const client = createFetchClient<paths>({ baseUrl: origin, headers })
  const answers: Answers = new WeakMap()
  // The first middleware is the last to see an answer.
  client.use({ onResponse: ({ options, response }) => void answers.set(options.fetch, response) })
  const send = sendBy(client.request as unknown as Send, { fetch, answers })
  const methods = METHODS.map((method) => [method, (path: string, init?: Init) => send(method, path, init)])
  const api = { ...client, request: send, ...Object.fromEntries(methods) } as Methods
  const asked = { parley: api, live: new LiveStreams(api) }
  return { ...api, watchSession: (streamSid, options) => watchSession(asked, streamSid, options) }
}

function originOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl))
    throw new TypeError(`baseUrl must begin with https:// or http://: ${baseUrl}`)
  const { origin, pathname, search, hash } = new URL(baseUrl)
  if (pathname + search + hash !== '/')
    throw new TypeError(`baseUrl must be without a path, such as ${origin}: ${baseUrl}`)
  return origin
}

/** By the function that sent it, what each request was answered, once all middleware was done with that. */
type Answers = WeakMap<object, Response>

/** What openapi-fetch takes for JSON unless told otherwise, and the errors that are none of Parley's. */
function sendBy(request: Send, { fetch, answers }: { fetch: Fetch; answers: Answers }): Send {
  return async (method, path, init = {}) => {
    const isText = typeof init.body === 'string'
    const sendOnce: Fetch = (asked) => (init.fetch ?? fetch)(asked)
    const sent = request(method, path, {
      ...(isText && { bodySerializer: (text: string) => text }),
      ...init,
      parseAs: init.parseAs ?? (PARSED_AS as Record<string, string>)[path],
      headers: isText ? mergeHeaders(CSV, init.headers) : init.headers,
      fetch: sendOnce,
    })
    const unreadable = ({ status }: Response, cause?: unknown) =>
      new Error(`${method} ${path}: the answer (${status}) broke off, or is no JSON.`, { cause })
    const { data, error, response } = await sent.catch((cause: unknown) => {
      const answer = answers.get(sendOnce)
      if (!answer || init.signal?.aborted) throw cause
      if (answer.ok) throw unreadable(answer, cause)
      return { data: undefined, error: undefined, response: answer }
    })
    if (response.ok && data === undefined && mayNotBeEmpty(method, response)) throw unreadable(response)
    return response.ok ? { data, response } : { error: refusalOf(error, response), response }
  }
}

/** There is nothing of Parley's without a body but what has none by its kind. */
function mayNotBeEmpty(method: string, { status }: Response): boolean {
  return method.toUpperCase() !== 'HEAD' && status !== 204
}

export type { components, operations, paths, webhooks } from './public-api.ts'
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

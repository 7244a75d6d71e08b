import createFetchClient, { type Client } from 'openapi-fetch'
import type { paths } from './public-api.ts'

/** Where Parley is reached, and as whom. */
export type ParleyOptions = {
  /** The service's public address, such as `https://voice.example.com`. */
  baseUrl: string
  /** A key of the tenant. */
  apiKey: string
  /** Instead of the global `fetch`: for proxies, retries and tests. */
  fetch?: (request: Request) => Promise<Response>
}

/** Calls the tenants' API: `GET`, `POST` and so on take a path of the API's description, and answer `{ data, error, response }`. */
export type Parley = Client<paths>

/** @throws TypeError for a base address that is none. */
export function createParley({ baseUrl, apiKey, fetch }: ParleyOptions): Parley {
  const { origin } = new URL(baseUrl)
  const headers = { authorization: `Bearer ${apiKey}` }
  return createFetchClient<paths>({ baseUrl: origin, headers, ...(fetch && { fetch }) })
}

export type { components, operations, paths } from './public-api.ts'
export {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookHeaders,
} from './webhook.ts'

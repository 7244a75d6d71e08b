import { boundedBody } from './bounded-body.ts'

/** `accept`: types of content; not given, any. Of an answer no more than `maxBytes` is read. */
type Asked = { apiKey: string; body: object; accept?: string; maxBytes: number; signal: AbortSignal }

type Answer = { status: number; contentType: string | null; bytes: Buffer }

/** About the account, or the moment, and not about what is asked. */
const PASSING = new Set([401, 403, 408, 429])

/**
 * Posts JSON to an endpoint as OpenAI and many others serve them. Null for an answer that is longer than `maxBytes`; rejects when there is
 * none. There is no other limit to how long it takes than the signal.
 */
export async function askOpenai(
  url: string,
  { apiKey, body, accept, maxBytes, signal }: Asked,
): Promise<Answer | null> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(accept !== undefined && { accept }),
    },
    body: JSON.stringify(body),
    // The key goes to the address that was configured and to no other one.
    redirect: 'error',
    signal,
  })
  const bytes = await boundedBody(response, maxBytes)
  return bytes && { status: response.status, contentType: response.headers.get('content-type'), bytes }
}

/** Whether an answer with this status refuses what was asked, whenever it is asked. */
export function refusesForGood(status: number): boolean {
  return status >= 400 && status < 500 && !PASSING.has(status)
}

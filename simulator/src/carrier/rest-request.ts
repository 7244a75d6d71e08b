import type { IncomingMessage } from 'node:http'
import { RestError } from './rest-error.ts'

const MOST_BODY_BYTES = 256 * 1024

/** A request to the REST surface, read to its end. */
export type RestRequest = {
  method: string
  path: string
  query: URLSearchParams
  form: URLSearchParams
  /** The body as it came, for what is not a form. */
  text: string
}

/** Reads a request. @throws RestError 20001 when its body is too long */
export async function readRestRequest(request: IncomingMessage): Promise<RestRequest> {
  const url = new URL(request.url ?? '/', 'http://carrier')
  const parts: Buffer[] = []
  let sizeBytes = 0
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue
    sizeBytes += part.length
    if (sizeBytes > MOST_BODY_BYTES) throw new RestError(20001, 'the body is too long')
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString('utf8')
  const form = new URLSearchParams(text)
  return { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, form, text }
}

/** The user and password of Basic authentication; null when there is none. */
export function basicCredentials(request: IncomingMessage): { user: string; password: string } | null {
  const [scheme, encoded] = (request.headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'basic' || !encoded) return null
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 ? null : { user: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}

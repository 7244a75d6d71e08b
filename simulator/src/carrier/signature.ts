import { createHmac } from 'node:crypto'

/**
 * The carrier's signature of a request: HMAC-SHA1, in base64, over the address exactly as it is requested, followed
 * by each form field's name and value in the order of the names' bytes; repeated values once each, sorted.
 * A request without a form (GET, WebSocket handshake, JSON body) is signed over its address alone.
 */
export function sign(authToken: string, url: string, form: [string, string][] = []): string {
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of form) fields.set(name, (fields.get(name) ?? new Set()).add(value))
  const signed = [...fields.keys()]
    .sort(byBytes)
    .flatMap((name) => [...(fields.get(name) ?? [])].sort(byBytes).map((value) => name + value))
    .join('')
  return createHmac('sha1', authToken)
    .update(url + signed, 'utf8')
    .digest('base64')
}

/** A signature of the right form that fits nothing: what a forger, or an old key, would send. */
export function forgedSignature(url: string): string {
  return sign('not the account’s key', url)
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

import { type NodeCrypto, nodeCrypto } from '#node-crypto'
import type { webhooks } from './public-api.ts'

type Told<Event> = Event extends { post: { requestBody: { content: { 'application/json': infer Body } } } }
  ? Body
  : never

/**
 * What a webhook tells: `event` names it and says what `payload` holds, the changed thing as the API shows it. Later versions may
 * have events of other names.
 */
export type WebhookEvent = { [Name in keyof webhooks]: Told<webhooks[Name]> }[keyof webhooks]

/** A request of Parley's that was verified. */
export type VerifiedRequest = {
  /** The same in every attempt: remember it to drop what was seen before. */
  id: string
  /** When this attempt was made. */
  sentAt: Date
}

/** A webhook that was verified. */
export type VerifiedWebhook = VerifiedRequest & {
  /** The number of the event in its call, from 1; null without a call. */
  sequence: number | null
  event: WebhookEvent
}

/** As `fetch`, Node and most frameworks have them. Names count in any case. */
export type WebhookHeaders = HeadersLike | Record<string, string | readonly string[] | undefined>

/** What `Headers` is, here and in libraries that bring their own. */
type HeadersLike = { get(name: string): string | null }

export type VerifyOptions = {
  /** How far the time of an attempt may be off, either way; 300 unless given. */
  toleranceSeconds?: number
  /** The present, in ms since 1970; the clock's unless given. */
  nowMs?: number
}

/** Why a webhook is not to be believed. `reason` is for programs. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'bad_signature' | 'bad_body'

  constructor(reason: WebhookError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 300

/**
 * Verifies that a webhook was sent by Parley, by the rules of Standard Webhooks, and reads it.
 *
 * @param body as it came, before any JSON is parsed: a body that was written anew has other bytes.
 * @param secrets the webhook's secret; several while secrets are changed: any of them will do.
 * @throws WebhookError for one that is not to be believed; answer it with a 4xx and do nothing. TypeError for arguments that
 * nothing can be verified by, and Error where there is no `node:crypto`.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): VerifiedWebhook {
  const verified = verifyRequest(headers, body, secrets, options)
  const sequence = headerOf(headers, 'parley-sequence')
  return { ...verified, sequence: sequence === null ? null : Number(sequence), event: eventIn(body) }
}

/**
 * The same for what is signed like a webhook and tells of no event: the question who takes a call (`inbound_decision` of the
 * tenant's document). The body is left to its reader.
 *
 * @throws WebhookError as `verifyWebhook`.
 */
export function verifyRequest(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): VerifiedRequest {
  const crypto = nodeCrypto()
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (id === null || timestamp === null || signatures === null) {
    throw new WebhookError('missing_header', 'The webhook lacks webhook-id, webhook-timestamp or webhook-signature.')
  }
  const sentAt = timeOf(timestamp, options)
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytesOf(body)])
  const keys = [secrets].flat().map(keyOf)
  if (!isSigned(crypto, { content, keys, signatures })) {
    throw new WebhookError('bad_signature', 'No signature of the webhook was made with a secret that is known here.')
  }
  return { id, sentAt }
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (areLikeHeaders(headers)) return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (found === undefined) return null
  return typeof found === 'string' ? found : (found[0] ?? null)
}

function areLikeHeaders(headers: WebhookHeaders): headers is HeadersLike {
  return typeof headers.get === 'function'
}

/** @throws TypeError for an option that is no number: any time would be within it. */
function timeOf(timestamp: string, { toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: VerifyOptions): Date {
  for (const [name, value] of Object.entries({ toleranceSeconds, nowMs }))
    if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`${name} must be a number: ${value}`)
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('bad_timestamp', 'webhook-timestamp is not in seconds.')
  const sentMs = Number(timestamp) * 1_000
  if (nowMs - sentMs > toleranceSeconds * 1_000) throw new WebhookError('too_old', 'The webhook was sent too long ago.')
  if (sentMs - nowMs > toleranceSeconds * 1_000) throw new WebhookError('too_new', 'The webhook comes from the future.')
  return new Date(sentMs)
}

/** @throws TypeError for what was parsed: of an object nobody can say which bytes it was. */
function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof ArrayBuffer) return Buffer.from(body)
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  throw new TypeError('the body of a webhook must be given as it came, as a string or bytes, before anything parses it')
}

type Signed = { content: Buffer; keys: readonly Buffer[]; signatures: string }

/** Each is compared, and each in the same time. */
function isSigned({ createHmac, timingSafeEqual }: NodeCrypto, { content, keys, signatures }: Signed): boolean {
  const given = signatures.split(' ').filter((each) => each.startsWith('v1,'))
  const decoded = given.map((each) => Buffer.from(each.slice('v1,'.length), 'base64'))
  let isKnown = false
  for (const key of keys) {
    const wanted = createHmac('sha256', key).update(content).digest()
    for (const each of decoded) {
      if (each.length === wanted.length && timingSafeEqual(each, wanted)) isKnown = true
    }
  }
  return isKnown
}

/** Behind `whsec_` stands a key in base64; any other secret is its own bytes. @throws TypeError for an empty one. */
function keyOf(secret: string): Buffer {
  // Of a setting that is not there the types need not know.
  const given = secret || ''
  const key = given.startsWith(PREFIX) ? Buffer.from(given.slice(PREFIX.length), 'base64') : Buffer.from(given)
  // An empty setting would let everybody sign.
  if (key.length === 0) throw new TypeError('a secret of webhooks must not be empty')
  return key
}

function eventIn(body: string | Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(bytesOf(body).toString())
    if (typeof event === 'object' && event !== null && 'event' in event) return event as WebhookEvent
  } catch {
    // Told below.
  }
  throw new WebhookError('bad_body', 'The body of the webhook is not an event.')
}

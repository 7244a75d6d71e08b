import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'
import { type ConnectionLimits, type RetryReason, splitOverrides } from './connection-overrides.ts'
import type { CallbackFaults } from './faults.ts'
import { exchange, HttpFailure, type HttpReply } from './http-exchange.ts'
import { forgedSignature, sign } from './signature.ts'

/** A form that the carrier sends. With GET the fields go into the address. */
export type Webhook = {
  address: string
  method: string
  form: [string, string][]
  signature: CallbackFaults['signature']
  /** Bound of the answer's body. */
  mostBytes: number
}

/** An answer, and the address of whoever gave it where that is another one than was asked first. */
export type WebhookReply = HttpReply & { redirectedTo: string | null }

/** What the carrier follows; 308 is none of them. */
const REDIRECTS = [301, 302, 303, 307]
/** With all others what was posted is not posted again. */
const KEPT_METHOD = 307
const MOST_REDIRECTS = 10

/**
 * Sends the carrier's signed webhooks. Every request ends within 15 s, has one retry of a failed connection (or what
 * the address's fragment says), follows redirects, signed anew each time, and is cut off by `close` or by its signal.
 */
export class WebhookClient {
  #clock: Clock
  #authToken: string
  #closing = new AbortController()
  #open = new Set<Promise<unknown>>()

  constructor(clock: Clock, authToken: string) {
    this.#clock = clock
    this.#authToken = authToken
  }

  /** Sends a webhook; the answer may have any status. @throws HttpFailure when there is none. */
  send(webhook: Webhook, signal?: AbortSignal): Promise<WebhookReply> {
    const stop = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    const sending = this.#sendWithRetries(webhook, stop)
    const quiet: Promise<unknown> = sending.then(
      () => this.#open.delete(quiet),
      () => this.#open.delete(quiet),
    )
    this.#open.add(quiet)
    return sending
  }

  /** Cuts off what is under way and resolves when it is gone. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#open)
  }

  async #sendWithRetries(webhook: Webhook, signal: AbortSignal): Promise<WebhookReply> {
    const { url, limits } = splitOverrides(webhook.address)
    const endMs = this.#clock.nowMs() + limits.totalTimeoutMs
    const token = randomUUID()
    for (let triesLeft = limits.retries; ; triesLeft--) {
      const outcome = await this.#try(webhook, { url, limits, endMs, token, signal })
      const reason = retryReason(outcome)
      const again = reason !== null && limits.retryOn.has(reason) && triesLeft > 0 && this.#clock.nowMs() < endMs
      if (again) continue
      if (outcome instanceof HttpFailure) throw outcome
      return outcome
    }
  }

  async #try(webhook: Webhook, attempt: Attempt): Promise<WebhookReply | HttpFailure> {
    let request = firstRequest(webhook, attempt.url)
    try {
      for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
        const reply = await this.#exchange(request, webhook, attempt)
        const next = redirected(request, reply)
        if (!next) return { ...reply, redirectedTo: redirects > 0 ? request.url : null }
        request = next
      }
      return new HttpFailure('redirects', `redirected more than ${MOST_REDIRECTS} times`)
    } catch (error) {
      if (error instanceof HttpFailure) return error
      return new HttpFailure('connect', error instanceof Error ? error.message : 'not an address')
    }
  }

  #exchange({ url, form }: Outgoing, { signature, mostBytes }: Webhook, attempt: Attempt): Promise<HttpReply> {
    const { limits, endMs, token, signal } = attempt
    return exchange(this.#clock, {
      url: new URL(url),
      method: form ? 'POST' : 'GET',
      headers: {
        'user-agent': 'TwilioProxy/1.1',
        'i-twilio-idempotency-token': token,
        ...this.#signature(signature, url, form ?? []),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
      },
      body: form ? new URLSearchParams(form).toString() : '',
      connectTimeoutMs: limits.connectTimeoutMs,
      readTimeoutMs: Math.min(limits.readTimeoutMs, endMs - this.#clock.nowMs()),
      mostBytes,
      signal,
    })
  }

  #signature(kind: Webhook['signature'], url: string, form: [string, string][]): Record<string, string> {
    if (kind === 'missing') return {}
    return { 'x-twilio-signature': kind === 'forged' ? forgedSignature(url) : sign(this.#authToken, url, form) }
  }
}

type Attempt = { url: string; limits: ConnectionLimits; endMs: number; token: string; signal: AbortSignal }

/** What goes out: a form is posted, null is a GET. */
type Outgoing = { url: string; form: [string, string][] | null }

function firstRequest({ method, form }: Webhook, url: string): Outgoing {
  if (method !== 'GET') return { url, form }
  const query = new URLSearchParams(form).toString()
  return { url: query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`, form: null }
}

/** What is asked next; null when the answer is no redirect, or none that can be followed. */
function redirected({ url, form }: Outgoing, { status, location }: HttpReply): Outgoing | null {
  if (!REDIRECTS.includes(status) || location === '' || !URL.canParse(location, url)) return null
  const next = new URL(location, url)
  next.hash = ''
  return { url: next.href, form: status === KEPT_METHOD ? form : null }
}

function retryReason(outcome: HttpReply | HttpFailure): RetryReason | null {
  if (outcome instanceof HttpFailure) {
    if (outcome.reason === 'connect') return 'ct'
    return outcome.reason === 'read' ? 'rt' : null
  }
  if (outcome.status >= 500) return '5xx'
  return outcome.status >= 400 ? '4xx' : null
}

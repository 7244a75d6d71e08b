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

/**
 * Sends the carrier's signed webhooks. Every request ends within 15 s, has one retry of a failed connection (or what
 * the address's fragment says), and is cut off by `close` or by its signal.
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
  send(webhook: Webhook, signal?: AbortSignal): Promise<HttpReply> {
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

  async #sendWithRetries(webhook: Webhook, signal: AbortSignal): Promise<HttpReply> {
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

  async #try(webhook: Webhook, attempt: Attempt): Promise<HttpReply | HttpFailure> {
    const query = new URLSearchParams(webhook.form).toString()
    const isGet = webhook.method === 'GET'
    const url = isGet && query !== '' ? `${attempt.url}${attempt.url.includes('?') ? '&' : '?'}${query}` : attempt.url
    try {
      return await exchange(this.#clock, {
        url: new URL(url),
        method: isGet ? 'GET' : 'POST',
        headers: {
          'user-agent': 'TwilioProxy/1.1',
          'i-twilio-idempotency-token': attempt.token,
          ...this.#signature(webhook, url),
          ...(isGet ? {} : { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }),
        },
        body: isGet ? '' : query,
        connectTimeoutMs: attempt.limits.connectTimeoutMs,
        readTimeoutMs: Math.min(attempt.limits.readTimeoutMs, attempt.endMs - this.#clock.nowMs()),
        mostBytes: webhook.mostBytes,
        signal: attempt.signal,
      })
    } catch (error) {
      if (error instanceof HttpFailure) return error
      return new HttpFailure('connect', error instanceof Error ? error.message : 'not an address')
    }
  }

  #signature({ method, form, signature }: Webhook, url: string): Record<string, string> {
    if (signature === 'missing') return {}
    const valid = sign(this.#authToken, url, method === 'GET' ? [] : form)
    return { 'x-twilio-signature': signature === 'forged' ? forgedSignature(url) : valid }
  }
}

type Attempt = { url: string; limits: ConnectionLimits; endMs: number; token: string; signal: AbortSignal }

function retryReason(outcome: HttpReply | HttpFailure): RetryReason | null {
  if (outcome instanceof HttpFailure) {
    if (outcome.reason === 'connect') return 'ct'
    return outcome.reason === 'read' ? 'rt' : null
  }
  if (outcome.status >= 500) return '5xx'
  return outcome.status >= 400 ? '4xx' : null
}

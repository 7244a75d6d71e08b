import { type Clock, elapsed } from './clock.ts'
import type { CallbackFaults } from './faults.ts'
import { HttpFailure } from './http-exchange.ts'
import type { Notification } from './verbs.ts'
import type { WebhookClient } from './webhook-client.ts'

// What a server answers to a callback is thrown away.
const MOST_ANSWER_BYTES = 64 * 1024

/** A callback to send. The faults of order hold for those of one `group`, of which one is the last. */
export type Callback = {
  address: string
  method: string
  form: [string, string][]
  group?: { isLast: boolean }
}

/** What a sender works with. The faults are read when a callback is fired, so they can change during a call. */
export type CallbackSenderParts = {
  clock: Clock
  webhooks: WebhookClient
  faults: CallbackFaults
  notify: (problem: Notification) => void
}

/**
 * Sends a call's callbacks without waiting for one another, as the carrier does; so they may arrive in another order
 * than they were fired in. Delays, copies, silence and wrong order are had by the call's switches.
 */
export class CallbackSender {
  #parts: CallbackSenderParts
  #held: Callback[] = []
  #underWay = new Set<Promise<void>>()
  #stop = new AbortController()

  constructor(parts: CallbackSenderParts) {
    this.#parts = parts
  }

  /** Fires a callback. */
  fire(callback: Callback): void {
    const { order, delivery } = this.#parts.faults
    if (delivery === 'never' || callback.address === '' || this.#stop.signal.aborted) return
    if (order === 'as-fired' || !callback.group) return this.#track(this.#deliver(callback))
    this.#held.push(callback)
  }

  /** Sends what a switch held back: the call is over. */
  release(): void {
    const held = this.#held.splice(0)
    const first = held.filter(({ group }) => group?.isLast)
    const rest = held.filter(({ group }) => !group?.isLast)
    const ordered = this.#parts.faults.order === 'reversed' ? held.reverse() : [...first, ...rest]
    // One after the other: an order that is wanted must not be left to chance.
    if (ordered.length > 0) this.#track(this.#deliverInTurn(ordered))
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Gives up what waits and is under way. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.idle()
  }

  async #deliverInTurn(callbacks: Callback[]): Promise<void> {
    for (const callback of callbacks) await this.#deliver(callback)
  }

  async #deliver({ address, method, form }: Callback): Promise<void> {
    const { clock, webhooks, faults, notify } = this.#parts
    const { delayMs, copies, signature } = faults
    if (delayMs > 0 && !(await elapsed(clock, delayMs, this.#stop.signal))) return
    const webhook = { address, method, form, signature, mostBytes: MOST_ANSWER_BYTES }
    const sending = Array.from({ length: Math.max(1, copies) }, async () => {
      try {
        const { status } = await webhooks.send(webhook, this.#stop.signal)
        if (status >= 300) notify({ code: 11200, message: `a callback was answered with ${status}` })
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error
        if (error.reason !== 'aborted') notify({ code: 11205, message: `a callback was not taken: ${error.message}` })
      }
    })
    await Promise.all(sending)
  }

  #track(task: Promise<void>): void {
    const tracked: Promise<void> = task.finally(() => this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
  }
}

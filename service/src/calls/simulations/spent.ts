import type { ChatUsage } from '../../platform/chat/port.ts'
import { roundedUsd } from '../../platform/realtime/price.ts'

/** Counts what the answers of chat models took. */
export class Spent {
  #tokens: { input: number; cached: number; output: number } | null = null
  #usd: number | null = null

  /** An answer; null where its provider tells nothing of it. */
  add(usage: ChatUsage | null): void {
    if (usage === null) return
    const { input, cached, output } = this.#tokens ?? { input: 0, cached: 0, output: 0 }
    const { inputTokens, cachedTokens, outputTokens, costUsd } = usage
    this.#tokens = { input: input + inputTokens, cached: cached + cachedTokens, output: output + outputTokens }
    if (costUsd !== null) this.#usd = (this.#usd ?? 0) + costUsd
  }

  /** As far as prices are known. */
  get usd(): number {
    return this.#usd ?? 0
  }

  /** As a run keeps it: null is what is not known. */
  shown() {
    return {
      input_tokens: this.#tokens?.input ?? null,
      cached_tokens: this.#tokens?.cached ?? null,
      output_tokens: this.#tokens?.output ?? null,
      cost_usd: this.#usd === null ? null : roundedUsd(this.#usd),
    }
  }
}

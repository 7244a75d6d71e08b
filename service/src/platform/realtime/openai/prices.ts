import type { ModelPrice, TokenPrice } from '../price.ts'

const rate = (input: number, cachedInput: number, output: number): TokenPrice => ({ input, cachedInput, output })

const LARGE_AUDIO = rate(32, 0.4, 64)
const SMALL: ModelPrice = { text: rate(0.6, 0.06, 2.4), audio: rate(10, 0.3, 20) }

/** By the name of the model; USD for a million tokens, as the provider's pages of models had them on 2026-11-22. */
export const PRICES: Readonly<Record<string, ModelPrice>> = {
  'gpt-realtime-2.1': { text: rate(4, 0.4, 24), audio: LARGE_AUDIO },
  'gpt-realtime-2.1-mini': SMALL,
  'gpt-realtime-2': { text: rate(4, 0.4, 24), audio: LARGE_AUDIO },
  'gpt-realtime-1.5': { text: rate(4, 0.4, 16), audio: LARGE_AUDIO },
  'gpt-realtime': { text: rate(4, 0.4, 16), audio: LARGE_AUDIO },
  'gpt-realtime-mini': SMALL,
  'gpt-4o-realtime-preview': { text: rate(5, 2.5, 20), audio: rate(40, 2.5, 80) },
  'gpt-4o-mini-realtime-preview': { text: rate(0.6, 0.3, 2.4), audio: rate(10, 0.3, 20) },
}

const SNAPSHOT = /-\d{4}-\d{2}-\d{2}$/

/** What a model costs; a snapshot (`gpt-realtime-2025-08-28`) costs what its model does. Null for one that is not in the table. */
export function priceOf(model: string): ModelPrice | null {
  const name = model.replace(SNAPSHOT, '')
  return Object.hasOwn(PRICES, name) ? (PRICES[name] ?? null) : null
}

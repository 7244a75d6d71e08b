import type { ChatUsage } from './port.ts'

/**
 * USD for a million tokens. Cached input is what the provider still had of the conversation before, kept input what it keeps for the
 * next request: older models keep it for nothing.
 */
type ChatPrice = { input: number; cachedInput: number; keptInput: number; output: number }

const rate = (input: number, cachedInput: number, output: number, keptInput = input): ChatPrice => ({
  ...{ input, cachedInput, keptInput, output },
})

/** By the name of the model: list prices of the provider. */
const PRICES: Readonly<Record<string, ChatPrice>> = {
  'gpt-6-luna': rate(0.1, 0.01, 0.5, 0.125),
  'gpt-5.6-luna': rate(0.2, 0.02, 1.2, 0.25),
  'gpt-4o': rate(2.5, 1.25, 10),
  'gpt-4o-mini': rate(0.15, 0.075, 0.6),
  'gpt-4.1': rate(2, 0.5, 8),
  'gpt-4.1-mini': rate(0.4, 0.1, 1.6),
  'gpt-4.1-nano': rate(0.1, 0.025, 0.4),
  'gpt-5': rate(1.25, 0.125, 10),
  'gpt-5-mini': rate(0.25, 0.025, 2),
  'gpt-5-nano': rate(0.05, 0.005, 0.4),
}

/** The tokens of an answer; `keptTokens`: how many of those that came in the provider keeps from now on. */
type Tokens = Omit<ChatUsage, 'costUsd'> & { keptTokens: number }

const SNAPSHOT = /-\d{4}-\d{2}-\d{2}$/
const MILLION = 1_000_000

/**
 * What an answer cost, in USD, not rounded; a snapshot (`gpt-4o-2024-08-06`) costs what its model does. Null for a model that is
 * not in the table.
 */
export function chatCostOf(model: string, tokens: Tokens): number | null {
  const name = model.replace(SNAPSHOT, '')
  const price = Object.hasOwn(PRICES, name) ? PRICES[name] : undefined
  if (!price) return null
  const { inputTokens, cachedTokens, keptTokens, outputTokens } = tokens
  const passing = (inputTokens - cachedTokens - keptTokens) * price.input
  const input = passing + cachedTokens * price.cachedInput + keptTokens * price.keptInput
  return (input + outputTokens * price.output) / MILLION
}

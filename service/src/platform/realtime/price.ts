/** USD for a million tokens. Cached input is what the provider still had of the conversation before. */
export type TokenPrice = { input: number; cachedInput: number; output: number }

/** What a realtime model costs. */
export type ModelPrice = { text: TokenPrice; audio: TokenPrice }

/** The tokens of an answer; `audioTokens`: how many of them stand for audio, missing where that was not told. */
type Tokens = {
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  audioTokens?: { input: number; output: number; cached: number }
}

const MILLION = 1_000_000

/**
 * What an answer cost, in USD, not rounded. Tokens of which it was not told what they stand for count as audio, which is never
 * cheaper than text.
 */
export function costOf(price: ModelPrice, usage: Tokens): number {
  const { inputTokens, outputTokens, cachedTokens } = usage
  const audio = usage.audioTokens ?? { input: inputTokens, output: outputTokens, cached: cachedTokens }
  const text = {
    input: Math.max(0, inputTokens - audio.input),
    output: Math.max(0, outputTokens - audio.output),
    cached: Math.max(0, cachedTokens - audio.cached),
  }
  return (costAt(price.text, text) + costAt(price.audio, audio)) / MILLION
}

function costAt(price: TokenPrice, tokens: { input: number; output: number; cached: number }): number {
  const cached = Math.min(tokens.cached, tokens.input)
  return (tokens.input - cached) * price.input + cached * price.cachedInput + tokens.output * price.output
}

/** A cost as it is kept and shown: to the millionth of a dollar. */
export function roundedUsd(usd: number): number {
  return Math.round(usd * MILLION) / MILLION
}

import type { StoredItem } from './items.ts'
import type { SessionConfig } from './session-config.ts'

const CHARS_PER_TOKEN = 4
/** The caller's audio costs a token for 100 ms, the model's own one for 50 ms. */
const INPUT_BYTES_PER_TOKEN = 800
const OUTPUT_BYTES_PER_TOKEN = 400
/** The cache knows whole blocks of a prompt only. */
const CACHE_BLOCK_TOKENS = 64

/** Tokens by what they stand for. */
export type Tokens = { text: number; audio: number }

/** The `usage` of a response. */
export type Usage = {
  total_tokens: number
  input_tokens: number
  output_tokens: number
  input_token_details: {
    text_tokens: number
    audio_tokens: number
    image_tokens: number
    cached_tokens: number
    cached_tokens_details: { text_tokens: number; audio_tokens: number; image_tokens: number }
  }
  output_token_details: { text_tokens: number; audio_tokens: number }
}

/** Tokens of a text. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}

/** Tokens of audio that the model speaks; µ-law bytes. */
export function spokenTokens(audioBytes: number): number {
  return Math.ceil(audioBytes / OUTPUT_BYTES_PER_TOKEN)
}

/** What a response reads: its instructions, the tools, and the conversation. */
export function promptTokens(config: SessionConfig, items: readonly StoredItem[]): Tokens {
  const fixed = textTokens(config.instructions) + textTokens(JSON.stringify(config.tools))
  const tokens = { text: fixed, audio: 0 }
  for (const { item, audio } of items) {
    if (audio)
      tokens.audio += Math.ceil(audio.length / (isSpoken(item) ? OUTPUT_BYTES_PER_TOKEN : INPUT_BYTES_PER_TOKEN))
    else tokens.text += textTokens(JSON.stringify(item.type === 'message' ? item.content : item))
  }
  return tokens
}

/**
 * The usage of a response that read `prompt` and wrote `output`. What the response before it had read already
 * (`previous`) counts as cached, in whole blocks.
 */
export function usageOf(prompt: Tokens, output: Tokens, previous: Tokens | null): Usage {
  const cached = { text: cachedOf(prompt.text, previous?.text), audio: cachedOf(prompt.audio, previous?.audio) }
  const input = prompt.text + prompt.audio
  return {
    total_tokens: input + output.text + output.audio,
    input_tokens: input,
    output_tokens: output.text + output.audio,
    input_token_details: {
      text_tokens: prompt.text,
      audio_tokens: prompt.audio,
      image_tokens: 0,
      cached_tokens: cached.text + cached.audio,
      cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  }
}

function cachedOf(now: number, before = 0): number {
  return Math.floor(Math.min(now, before) / CACHE_BLOCK_TOKENS) * CACHE_BLOCK_TOKENS
}

function isSpoken(item: StoredItem['item']): boolean {
  return item.type === 'message' && item.role === 'assistant'
}

import type { ToolDeclaration } from '../realtime/port.ts'

/** Something that was said, or is to be kept in mind. */
export type ChatMessage =
  | { role: 'system' | 'user'; text: string }
  | { role: 'assistant'; text: string; calls?: ChatFunctionCall[] }
  /** What came of a function that the model has called. */
  | { role: 'tool'; callId: string; text: string }

/** A function that the model wants called. */
export type ChatFunctionCall = { id: string; name: string; argumentsText: string }

export type ChatRequest = {
  /** Null is the driver's own default. */
  model: string | null
  messages: ChatMessage[]
  /** What the model may call. */
  tools: ToolDeclaration[]
  /** `json`: one object of JSON and nothing else, which a message must have asked for. Default: words. */
  answers?: 'words' | 'json'
  signal: AbortSignal
}

/** The tokens of an answer, and what they cost in USD, not rounded: null where no price of the model is known. */
export type ChatUsage = { inputTokens: number; cachedTokens: number; outputTokens: number; costUsd: number | null }

/** What the model says, and calls; either may be empty. `usage`: null where the provider does not tell it. */
export type ChatAnswer = { text: string; calls: ChatFunctionCall[]; usage: ChatUsage | null }

/** A model that answers in text. */
export type ChatModel = {
  /** @throws ChatFault when there is no answer; there is no other limit to how long it takes than the signal. */
  complete(request: ChatRequest): Promise<ChatAnswer>
}

/** Why there is no answer, in the provider's words; for the log. */
export class ChatFault extends Error {
  override readonly name = 'ChatFault'
  /** The provider answers, and will not answer this whenever it is asked: an unknown model, a conversation that is too long. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false, ...options }: ErrorOptions & { isRefusal?: boolean } = {}) {
    super(message, options)
    this.isRefusal = isRefusal
  }
}

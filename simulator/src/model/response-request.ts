import type { Reply } from './brain.ts'
import type { ModelFaults } from './faults.ts'
import type { AudioFormat } from './session-shape.ts'
import type { Tokens } from './usage.ts'

/** Everything that is settled about a response before it begins. */
export type ResponseRequest = {
  reply: Reply
  modality: 'audio' | 'text'
  format: AudioFormat
  voice: unknown
  /** Null for a response outside the conversation (`conversation: "none"`), which others may run beside. */
  conversationId: string | null
  metadata: Record<string, string> | null
  maxOutputTokens: number | 'inf'
  prompt: Tokens
  /** What the response before it had read, for the cache; null for the first one. */
  previousPrompt: Tokens | null
  faults: ModelFaults
}

/** How fast a model is. */
export type Pace = {
  /** From the request to the first delta. */
  thinkMs: number
  /** How many times faster than it plays audio is sent. */
  timesRealTime: number
}

/** A pace like the real server's on a good day. */
export const NATURAL_PACE: Pace = { thinkMs: 250, timesRealTime: 8 }

/** Why a response stopped early. */
export type CancelReason = 'turn_detected' | 'client_cancelled'

/** How a response ended. */
export type ResponseStatus = 'completed' | 'cancelled' | 'failed' | 'incomplete'

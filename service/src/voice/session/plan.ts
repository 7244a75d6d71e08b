import type { ModelCapabilities } from '../../platform/realtime/port.ts'

/** What a session is to do: fixed at its start, made from the agent version and the tenant's document. Times in ms. */
export type Plan = {
  capabilities: ModelCapabilities
  /** The exact greeting; empty: the agent words it. */
  greeting: string
  interruption: { enabled: boolean; minSpeechMs: number; greetingGuardMs: number; backchannelWords: readonly string[] }
  idle: { afterMs: number; prompts: readonly string[]; goodbye: string }
  dtmf: { maxDigits: number; endKey: string; timeoutMs: number }
  fillers: { afterMs: number; phrases: readonly string[] }
  /** A model silent for this long while it owes an answer has stalled. */
  modelStallMs: number
  maxCallMs: number
  /** A model session older than this is renewed between two turns. */
  modelSessionMs: number
  /** Where the call goes when no model can be had; null: an apology, then the end. */
  fallbackNumber: string | null
}

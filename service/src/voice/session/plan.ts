import type { ModelCapabilities } from '../../platform/realtime/port.ts'
import type { ModelPrice } from '../../platform/realtime/price.ts'

/** Words that were spoken ahead of the call; `ms` of audio. A filler bridges a wait, an apology ends a call without a model, the others are said first. */
export type PlannedClip = { kind: 'disclosure' | 'greeting' | 'apology' | 'filler'; text: string; ms: number }

/** What a session is to do: fixed at its start, made from the agent version and the tenant's document. Times in ms. */
export type Plan = {
  /** As whom the agent speaks; not given: that is not written down. */
  agentName?: string
  capabilities: ModelCapabilities
  /** What the caller hears first, in this order, then the others; none: the model says it. */
  clips: readonly PlannedClip[]
  /** The model writes its answers, and the secondary provider speaks them; not given: the model speaks. */
  secondVoice?: boolean
  /** The exact greeting, of what no clip says; empty: the agent words it. */
  greeting: string
  /** What the law wants said, where no clip says it: the model's first words begin with it. Null, or not given: nothing. */
  disclosure?: string | null
  /**
   * `backchannels`: words that only say "I am listening" · `resumeFalseMs`: how long words may take to come after the agent was
   * stopped, before it goes on; 0: it never does.
   */
  interruption: {
    enabled: boolean
    minSpeechMs: number
    greetingGuardMs: number
    backchannels: readonly string[]
    resumeFalseMs: number
  }
  /**
   * What the model's server adds to speech before and after it, when it tells where it began and ended. `silenceMs` is
   * null where it waits as long as it likes.
   */
  hearing: { prefixMs: number; silenceMs: number | null }
  idle: { afterMs: number; prompts: readonly string[]; goodbye: string }
  dtmf: { maxDigits: number; endKey: string; timeoutMs: number }
  fillers: { afterMs: number; phrases: readonly string[] }
  /** How long what a caller hears on hold is, before it begins anew. */
  holdMs: number
  /** Whether it is heard while a tool takes long, too; not given: it is not. */
  holdsForTools?: boolean
  /** Whether silence in the middle of an answer is bridged as that before it; not given, as in logs of earlier versions: it is not. */
  bridgesGaps?: boolean
  /** Tools during which the agent goes on talking; not given: none. */
  asyncTools?: readonly string[]
  /** A model silent for this long while it owes an answer has stalled. */
  modelStallMs: number
  maxCallMs: number
  /** What its model costs; null where that is not known: then nothing is counted. */
  price: ModelPrice | null
  /** Another model, for when the call's own stays away; not given: there is none. */
  fallback?: { price: ModelPrice | null; model?: string | null } | null
  /** The model that speaks, and its voice, where that is to be written down; a null is its driver's own default. */
  speaker?: { model: string | null; voice: string | null } | undefined
  /** What the call may cost, and how long it may take of the tenant's day; null for as much as it likes. */
  budgetUsd: number | null
  budgetMs: number | null
  /** A model session older than this is renewed between two turns. */
  modelSessionMs: number
  /** What is left on an answering machine; null: the call ends at once. */
  voicemail: string | null
  /** Whether it is to be found out who answers: in calls that are placed. Not given: it is not. */
  readsParty?: boolean
  /** A beep tells the caller that the call is recorded. */
  recordBeep: boolean
  /** Whether a carrier holds the call, which can bring it back when its stream is lost. */
  isResumable: boolean
  /** Where the call goes when no model can be had; null: an apology, then the end. */
  fallbackNumber: string | null
  /** What the carrier says in our place when no model can be had, in the agent's language; not given: in English. */
  sorry?: { text: string; language: string }
}

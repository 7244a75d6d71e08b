import type { ModelPrice } from './price.ts'

/**
 * A realtime speech model as the voice floor sees it. A driver turns one provider's wire into these commands and events;
 * nothing above it knows the wire. Audio is G.711 µ-law, 8 kHz, mono, as base64 bytes in both directions: a driver whose
 * model speaks µ-law passes it on without decoding.
 */

/** What a driver's model can do. What it cannot is left out by those above, who ask these flags and never the name. */
export type ModelCapabilities = {
  /** Whether an item can be cut at the millisecond that was heard. */
  truncation: boolean
  /** Whether the caller's words come back as text. */
  callerTranscripts: boolean
  /** Whether it can answer in text instead of audio. */
  textOutput: boolean
  /** Whether it speaks µ-law itself, so that frames are passed on untouched. */
  nativeMulaw: boolean
}

/** A function that the model may call. `parameters` is a JSON Schema of an object. */
export type ToolDeclaration = { name: string; description: string; parameters: Record<string, unknown> }

/** When the model's server thinks that the caller's turn has ended. It never answers or cancels by itself. */
export type TurnDetection =
  | { type: 'server_vad'; threshold: number; prefixPaddingMs: number; silenceDurationMs: number }
  | { type: 'semantic_vad'; eagerness: 'low' | 'medium' | 'high' | 'auto' }

/** How much a model that reasons does so before it speaks: the more, the better its answers, and the later. */
export type ReasoningEffort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

/** Everything a model session is opened with. A null is the driver's own default. */
export type ModelSetup = {
  model: string | null
  voice: string | null
  instructions: string
  speed: number | null
  /** Where the model does not reason, or its server does not take this, the session goes without it. */
  reasoningEffort: ReasoningEffort | null
  output: 'audio' | 'text'
  turnDetection: TurnDetection
  noiseReduction: 'near_field' | 'far_field' | 'off' | null
  /** `language`: a tag, such as `en` or `pt-BR`. */
  transcription: { model: string | null; language: string | null }
  /** The most important first: a driver whose model does not take as many leaves out the last. */
  tools: ToolDeclaration[]
}

/** `requestId` comes back in `refused` when the provider will not do it. */
export type ModelCommand =
  /**
   * Asks for one answer; at most one is active at a time. `instructions` are for this answer alone, and so is `output`, which is the
   * session's where it is not given. `noTools`: it is to call none.
   */
  | { type: 'respond'; requestId: string; instructions: string | null; output?: ModelSetup['output']; noTools?: true }
  | { type: 'cancel'; responseId: string }
  /** Tells the model what of the item was heard. `audioEndMs` is at least 1 and at most what was received of it. */
  | { type: 'truncate'; itemId: string; audioEndMs: number }
  | { type: 'delete_item'; itemId: string }
  /** Adds a message that the caller does not hear: what was typed, a whisper, the conversation so far. */
  | { type: 'system_message'; text: string }
  | { type: 'tool_result'; callId: string; output: string }

/**
 * What one answer used, cancelled or not: tokens, and seconds of audio as they came. `audioTokens`: how many of the tokens stand
 * for audio; missing where the provider does not tell.
 */
export type ModelUsage = {
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  audioSeconds: number
  audioTokens?: { input: number; output: number; cached: number }
}

/**
 * How bad a provider's error is: `benign` changes nothing, `retry` is worth a new try, `expired` is the session's own end
 * of life, `fatal` will not get better by trying again (key, quota, unknown model), `setup` refuses what we asked for at
 * the start.
 */
export type ModelFault = 'benign' | 'retry' | 'expired' | 'fatal' | 'setup'

export type ModelEvent =
  /** The session is set up: audio and requests are welcome from now on. */
  | { type: 'ready' }
  | { type: 'speech_started'; itemId: string; audioStartMs: number }
  | { type: 'speech_stopped'; itemId: string; audioEndMs: number }
  /** The caller's turn is an item of the conversation now. */
  | { type: 'committed'; itemId: string; previousItemId: string | null }
  /** An item joined the conversation after `previousItemId`: transcripts are put in the order of this chain. */
  | { type: 'item_added'; itemId: string; previousItemId: string | null; role: 'caller' | 'agent' | 'system' | 'tool' }
  | { type: 'caller_transcript'; itemId: string; text: string }
  | { type: 'caller_transcript_failed'; itemId: string }
  | { type: 'response_started'; responseId: string }
  /** A piece of the words that the audio says; `final` holds them whole. */
  | { type: 'agent_transcript'; responseId: string; itemId: string; text: string; final: boolean }
  /** Words in place of audio: right when the output is text, a fault when it is audio. */
  | { type: 'agent_text'; responseId: string; itemId: string; text: string; final: boolean }
  | { type: 'audio_done'; responseId: string; itemId: string }
  /** The item is whole, and was only said ahead: the model thinks about what it says, or does, next in the same answer, as a rule. */
  | { type: 'preamble'; responseId: string; itemId: string }
  | { type: 'tool_call'; responseId: string; itemId: string; callId: string; name: string; argumentsText: string }
  | {
      type: 'response_done'
      responseId: string
      status: 'completed' | 'cancelled' | 'failed' | 'incomplete'
      /** The provider's code when it failed, such as `rate_limit_exceeded`. */
      errorCode: string | null
      fault: ModelFault | null
      usage: ModelUsage
    }
  /** How long until the provider takes requests again; only sent when nothing remains. */
  | { type: 'rate_limited'; resetMs: number }
  /** The provider refused a command, or reports trouble. `requestId` is the command's when it is known. */
  | { type: 'refused'; requestId: string | null; code: string; message: string; fault: ModelFault }
  /**
   * The session is over, or was never had; one that has expired too. Comes once, last, and not after `close()`. It `wasDeaf` where nothing
   * had come of it any more for seconds: it may not have heard what the caller said in them.
   */
  | { type: 'closed'; code: string; message: string; fault: ModelFault; wasDeaf?: true }

/** What the voice floor hands to a driver. Both are called synchronously from the socket's own event. */
export type ModelListener = {
  event(event: ModelEvent): void
  /** The fast path: base64 µ-law, checked, at most 500 ms of it. `payload` is only valid during this call. */
  audio(responseId: string, itemId: string, payload: Buffer): void
}

/** One live session with a model. Nothing here waits: what cannot be sent any more is dropped, and `closed` tells why. */
export type ModelSession = {
  /** The fast path: base64 µ-law of the caller, 20 ms as a rule. Checked base64 only: it is spliced into the wire. */
  append(payload: Buffer): void
  send(command: ModelCommand): void
  /** Bytes that wait in the socket: the caller of `append` sheds old audio instead of letting it grow. */
  bufferedBytes(): number
  /** Ends the session; no event follows. Idempotent. */
  close(): void
}

/** Opens sessions with one provider. */
export type RealtimeDriver = {
  name: string
  capabilities: ModelCapabilities
  /** What a model costs (null: the driver's own default); null where that is not known. Missing: no price is. */
  priceOf?(model: string | null): ModelPrice | null
  /** The model that speaks when this one is asked for (null: the driver's own default). Missing: that one. */
  modelFor?(model: string | null): string | null
  /** The same of its voice. */
  voiceFor?(voice: string | null): string | null
  /** Starts to connect and returns at once; `ready` or `closed` follows. */
  open(setup: ModelSetup, listener: ModelListener): ModelSession
}

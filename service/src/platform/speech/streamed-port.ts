import type { Clock } from '../../kernel/clock.ts'

/** Whose voice speaks, and how; a null is the driver's own default. */
export type VoiceSetup = {
  voiceId: string
  modelId: string | null
  /** A language tag, such as `en` or `pt-BR`; null: the provider finds out by itself. */
  language: string | null
  /** 1 is how the voice speaks by itself. */
  speed: number
}

/**
 * Why a stream of speech is over before its text was. `circuit_open`: it was not even tried · `handshake`: no connection, or a
 * refusal · `silent`: text, and no audio within the bound · `refused`: the provider told of an error · `unfit`: it does not have what
 * was asked for, such as this voice, and speaks for others · `lost`: the connection ended · `idle`: it ended before any text was
 * given, which is nobody's fault.
 */
export type VoiceFault = 'circuit_open' | 'handshake' | 'silent' | 'refused' | 'unfit' | 'lost' | 'idle'

export type VoiceEvent =
  /** What the audio right behind this says: each character with the ms, of all audio of the stream, at which it ends. */
  | { type: 'spoken'; text: string; endsMs: readonly number[] }
  /** All that was given has been spoken. Comes once, last. */
  | { type: 'done' }
  /** No more of it will come. Comes once, last. `message` is the provider's, without secrets. */
  | { type: 'failed'; why: VoiceFault; message: string }

/** What of a setup a provider may not have: the rest it always takes. */
export type VoiceName = Pick<VoiceSetup, 'voiceId' | 'modelId'>

/** Both are called synchronously from the socket's own event, or, where a stream is over at once, from `open`. */
export type VoiceListener = {
  event(event: VoiceEvent): void
  /** Base64 µ-law, 8 kHz, mono, at most 500 ms of it. */
  audio(payload: Buffer): void
}

/** Speech that is made while its text is still being written. Nothing here waits; what follows its end is dropped. */
export type VoiceStream = {
  /** More of the text, as it comes: words may be in pieces. */
  say(text: string): void
  /** What was given is spoken without waiting for more. */
  flush(): void
  /** No more text follows. */
  end(): void
  /** Ends it as it is; no event follows. Idempotent. */
  close(): void
}

/** A voice of one provider, for text that is still being written. */
export type StreamedSpeech = {
  name: string
  /** Starts to connect and returns at once. */
  open(setup: VoiceSetup, listener: VoiceListener): VoiceStream
}

/** Where a provider of voices is reached and as whom. */
export type StreamedSpeechSettings = { url: string; apiKey: string; clock: Clock }

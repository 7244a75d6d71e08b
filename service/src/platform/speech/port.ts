export type SpeechRequest = {
  text: string
  /** Null is the driver's own default. */
  voice: string | null
  /** How fast, where 1 is how the voice speaks by itself. */
  speed: number
  signal: AbortSignal
}

/** A voice that reads out a text as it stands. */
export type Speech = {
  /** Which model speaks: the same text, voice and model sound the same. */
  model: string
  /** The voice that speaks where none is named. */
  defaultVoice: string
  /**
   * G.711 µ-law, 8 kHz, mono, which begins and ends where the words do. There is no other limit to how long it takes than the
   * signal.
   *
   * @throws SpeechFault when there is none, or more than a minute of it.
   */
  speak(request: SpeechRequest): Promise<Buffer>
}

type SpeechFaultOptions = ErrorOptions & { isLasting?: boolean; isGone?: boolean }

/** Why there is no speech, in the provider's words; for the log. */
export class SpeechFault extends Error {
  override readonly name = 'SpeechFault'
  /** It will be so whenever it is asked for: too long, or refused. */
  readonly isLasting: boolean
  /** There is nobody to speak: the provider has no such model, or no speech at all. */
  readonly isGone: boolean

  constructor(message: string, { isLasting = false, isGone = false, ...options }: SpeechFaultOptions = {}) {
    super(message, options)
    this.isLasting = isLasting
    this.isGone = isGone
  }
}

import type { ModelEvent } from '../../platform/realtime/port.ts'

/** A stream of the secondary provider's speech; one at a time. */
export type VoiceStreamState = {
  readonly id: string
  /** The answer and the item that it speaks; null while it waits for the first word of one. */
  readonly of: { readonly responseId: string; readonly itemId: string } | null
  /** How the answer ended at the model, which counts once all of it has become sound. */
  readonly done: Extract<ModelEvent, { type: 'response_done' }> | null
}

/** The voice of the secondary provider. */
export type SecondVoice = {
  /** Answers are written, and it speaks them; else the model speaks: where nobody wants it, or once it has failed, until the end. */
  readonly isOn: boolean
  readonly stream: VoiceStreamState | null
  /** How many streams were opened. */
  readonly count: number
  /** How many characters they were given. */
  readonly characters: number
}

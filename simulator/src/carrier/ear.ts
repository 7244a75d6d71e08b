import { levelDbfs, UTTERANCE_GAP_MS, VOICED_DBFS } from '../audio/levels.ts'
import { FRAME_MS } from '../audio/mulaw.ts'

/**
 * Listens to a line, frame by frame: does somebody speak, since when, and how long has it been quiet?
 * A pause between two sentences does not end an utterance.
 */
export class Ear {
  #utteranceMs = 0
  #utteranceIsOld = false
  #quietMs = Number.POSITIVE_INFINITY
  #hasSpoken = false

  /** Milliseconds since the utterance that goes on began, if it began after the last `forget`; 0 when none does. */
  get freshUtteranceMs(): number {
    return this.#utteranceIsOld ? 0 : this.#utteranceMs
  }

  /** Milliseconds since anything was heard; Infinity before the first sound. */
  get quietMs(): number {
    return this.#quietMs
  }

  /** Whether anything was heard since the last `forget`. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /** Takes 20 ms. Tells when an utterance begins and when it has ended. */
  hear(frame: Uint8Array): 'began' | 'ended' | null {
    const wasSpeaking = this.#utteranceMs > 0
    if (levelDbfs(frame) > VOICED_DBFS) {
      this.#quietMs = 0
      this.#hasSpoken = true
      this.#utteranceMs += FRAME_MS
      return wasSpeaking ? null : 'began'
    }
    this.#quietMs += FRAME_MS
    if (!wasSpeaking) return null
    this.#utteranceMs += FRAME_MS
    if (this.#quietMs < UTTERANCE_GAP_MS) return null
    this.#endUtterance()
    return 'ended'
  }

  /** Takes what was heard so far as old: only sound from now on counts as speech to react to. */
  forget(): void {
    this.#hasSpoken = false
    this.#utteranceIsOld = this.#utteranceMs > 0
  }

  /** The utterance was cut off at its source, and counts no more. True when one was going on. */
  cut(): boolean {
    const wasSpeaking = this.#utteranceMs > 0
    this.#endUtterance()
    this.#hasSpoken = false
    return wasSpeaking
  }

  #endUtterance(): void {
    this.#utteranceMs = 0
    this.#utteranceIsOld = false
  }
}

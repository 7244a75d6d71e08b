import { FRAME_MS } from './audio.ts'

/** What a server's voice activity detection tells of the audio it is given; `atMs` is the place in all of it. */
export type Heard = { type: 'started'; atMs: number } | { type: 'stopped'; atMs: number; sounds: number[] }

/** A server counts so much of what comes before speech to it. */
const PREFIX_MS = 300

/** Finds speech in frames: it begins with `onsetMs` of sound and ends with `silenceMs` without any. */
export class Hearing {
  readonly #silenceMs: number
  readonly #onsetMs: number
  #givenMs = 0
  #loudMs = 0
  #quietMs = 0
  #isSpeech = false
  #sounds: number[] = []

  constructor({ silenceMs, onsetMs }: { silenceMs: number; onsetMs: number }) {
    this.#silenceMs = silenceMs
    this.#onsetMs = onsetMs
  }

  /** One frame, as the number of its sound or null; what follows from it. */
  hear(sound: number | null): Heard | null {
    this.#givenMs += FRAME_MS
    if (sound !== null && !this.#sounds.includes(sound)) this.#sounds.push(sound)
    this.#loudMs = sound === null ? 0 : this.#loudMs + FRAME_MS
    this.#quietMs = sound === null ? this.#quietMs + FRAME_MS : 0
    if (!this.#isSpeech) return this.#begin()
    return this.#quietMs >= this.#silenceMs ? this.#end() : null
  }

  #begin(): Heard | null {
    if (this.#loudMs === 0 && this.#quietMs > this.#onsetMs) this.#sounds = []
    if (this.#loudMs < this.#onsetMs) return null
    this.#isSpeech = true
    return { type: 'started', atMs: Math.max(0, this.#givenMs - this.#loudMs - PREFIX_MS) }
  }

  #end(): Heard {
    const sounds = this.#sounds
    this.#isSpeech = false
    this.#sounds = []
    return { type: 'stopped', atMs: this.#givenMs, sounds }
  }
}

import { FRAME_MS } from './audio.ts'

/** What a server's voice activity detection tells of the audio it is given. */
export type Heard = { type: 'started' } | { type: 'stopped'; sounds: number[] }

const ONSET_MS = 100

/** Finds speech in frames: it begins with 100 ms of sound and ends with `silenceMs` without any. */
export class Hearing {
  readonly #silenceMs: number
  #loudMs = 0
  #quietMs = 0
  #isSpeech = false
  #sounds: number[] = []

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs
  }

  /** One frame, as the number of its sound or null; what follows from it. */
  hear(sound: number | null): Heard | null {
    if (sound !== null && !this.#sounds.includes(sound)) this.#sounds.push(sound)
    this.#loudMs = sound === null ? 0 : this.#loudMs + FRAME_MS
    this.#quietMs = sound === null ? this.#quietMs + FRAME_MS : 0
    if (!this.#isSpeech) return this.#begin()
    return this.#quietMs >= this.#silenceMs ? this.#end() : null
  }

  #begin(): Heard | null {
    if (this.#loudMs === 0 && this.#quietMs > ONSET_MS) this.#sounds = []
    if (this.#loudMs < ONSET_MS) return null
    this.#isSpeech = true
    return { type: 'started' }
  }

  #end(): Heard {
    const sounds = this.#sounds
    this.#isSpeech = false
    this.#sounds = []
    return { type: 'stopped', sounds }
  }
}

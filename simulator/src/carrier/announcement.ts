import { FRAME_BYTES, SILENCE } from '../audio/mulaw.ts'
import { makeDeferred } from './deferred.ts'
import type { FarEnd, Heard } from './far-end.ts'

/** Audio that the carrier itself plays into a line: `<Say>`, `<Play>`, a ring-back tone. */
export class Announcement implements FarEnd {
  #audio: Uint8Array
  #timesLeft: number
  #at = 0
  #onKey: (digit: string) => void
  #played = makeDeferred<void>()

  constructor(
    audio: Uint8Array,
    { times = 1, onKey = () => {} }: { times?: number; onKey?: (digit: string) => void } = {},
  ) {
    this.#audio = audio
    this.#timesLeft = audio.length === 0 ? 0 : times
    this.#onKey = onKey
    if (this.#timesLeft === 0) this.#played.resolve()
  }

  /** Resolves when the last sample was played. */
  get played(): Promise<void> {
    return this.#played.promise
  }

  exchange(): Heard {
    const frame = new Uint8Array(FRAME_BYTES).fill(SILENCE)
    if (this.#timesLeft === 0) return { frame, seams: [] }
    frame.set(this.#audio.subarray(this.#at, this.#at + FRAME_BYTES))
    this.#at += FRAME_BYTES
    if (this.#at >= this.#audio.length) {
      this.#at = 0
      this.#timesLeft--
      if (this.#timesLeft === 0) this.#played.resolve()
    }
    return { frame, seams: [] }
  }

  key(digit: string): void {
    this.#onKey(digit)
  }
}

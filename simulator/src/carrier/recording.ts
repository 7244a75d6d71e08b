import { BYTES_PER_MS, FRAME_BYTES } from '../audio/mulaw.ts'
import type { Heard } from './far-end.ts'

// An hour of both directions is 58 MB. Later audio is not kept.
const MOST_FRAMES = 60 * 60 * 50

/** Both directions of an answered call as its party spoke and heard them, frame beside frame. */
export class CallRecording {
  #caller: Uint8Array[] = []
  #agent: Uint8Array[] = []
  #seams: number[] = []

  /** Keeps 20 ms of both directions. */
  add(voice: Uint8Array, { frame, seams }: Heard): void {
    if (this.#caller.length >= MOST_FRAMES) return
    for (const seam of seams) this.#seams.push(this.#caller.length * FRAME_BYTES + seam)
    this.#caller.push(voice)
    this.#agent.push(frame)
  }

  /** The party's own voice, µ-law 8 kHz. */
  get caller(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#caller))
  }

  /** What the party heard, µ-law 8 kHz, as long as `caller`. */
  get agent(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#agent))
  }

  /** Where, in `agent`, a piece of audio begins that came in a message of its own; in bytes. */
  get seams(): readonly number[] {
    return this.#seams
  }

  get durationMs(): number {
    return (this.#caller.length * FRAME_BYTES) / BYTES_PER_MS
  }
}

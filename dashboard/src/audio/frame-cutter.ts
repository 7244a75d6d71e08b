import { SILENT_BYTE, TELEPHONE_RATE_HZ } from './mulaw.ts'

/** How much audio is in one message, as carriers send it. */
export const FRAME_MS = 20
const FRAME_BYTES = (TELEPHONE_RATE_HZ * FRAME_MS) / 1_000

/** Cuts a stream of µ-law into frames of 20 ms; what does not fill one waits for the next. */
export class FrameCutter {
  #frame = new Uint8Array(FRAME_BYTES)
  #filled = 0

  push(bytes: Uint8Array): Uint8Array[] {
    const frames: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + FRAME_BYTES - this.#filled)
      this.#frame.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === FRAME_BYTES) frames.push(this.#take())
    }
    return frames
  }

  #take(): Uint8Array {
    const frame = this.#frame
    this.#frame = new Uint8Array(FRAME_BYTES)
    this.#filled = 0
    return frame
  }
}

/** A frame in which nothing is heard: a line whose microphone is off goes on, as a telephone's does. */
export const SILENT_FRAME = new Uint8Array(FRAME_BYTES).fill(SILENT_BYTE)

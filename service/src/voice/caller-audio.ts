/** 3 s of 20 ms frames: what a caller says while a model session is being opened. */
const MAX_FRAMES = 150

/**
 * Keeps the caller's audio while no model takes it. At the bound the oldest frame goes: what was said last matters most.
 *
 * Frames are copied, because they are views into a socket's buffer.
 */
export class CallerAudio {
  #frames: Buffer[] = []
  #dropped = 0

  keep(payload: Buffer): void {
    if (this.#frames.length >= MAX_FRAMES) {
      this.#frames.shift()
      this.#dropped += 1
    }
    this.#frames.push(Buffer.from(payload))
  }

  /** Hands over what was kept, in order, and keeps nothing of it. */
  take(): Buffer[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }

  /** Frames that were lost at the bound since the start. */
  get dropped(): number {
    return this.#dropped
  }
}

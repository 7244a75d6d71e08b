const FRAME_BYTES = 160

/** Puts base64 audio that comes in frames of one size into frames of another, of `ms` each. */
export class Regrouped {
  readonly #bytes: number
  #waiting = Buffer.alloc(0)

  constructor(ms: number) {
    this.#bytes = (FRAME_BYTES * ms) / 20
  }

  take(payload: Buffer): Buffer[] {
    // What is in frames of this size already stays as it is.
    if (this.#waiting.length === 0 && payload.length === 4 * Math.ceil(this.#bytes / 3)) return [payload]
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(payload.toString('latin1'), 'base64')])
    const frames: Buffer[] = []
    for (; this.#waiting.length >= this.#bytes; this.#waiting = this.#waiting.subarray(this.#bytes)) {
      frames.push(Buffer.from(this.#waiting.subarray(0, this.#bytes).toString('base64')))
    }
    return frames
  }
}

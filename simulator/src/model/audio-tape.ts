import { BYTES_PER_MS } from '../audio/mulaw.ts'

/**
 * The last stretch of a stream of µ-law, addressed by milliseconds since the stream began.
 *
 * Old audio is let go with `keepFrom`, or by itself beyond `limitMs`.
 */
export class AudioTape {
  readonly #limitMs: number
  #chunks: Uint8Array[] = []
  #firstByte = 0
  #endByte = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Milliseconds of audio that the stream has had so far, kept or not. */
  get endMs(): number {
    return Math.floor(this.#endByte / BYTES_PER_MS)
  }

  /** Where the kept audio begins. */
  get startMs(): number {
    return Math.ceil(this.#firstByte / BYTES_PER_MS)
  }

  /** Adds audio at the end. */
  append(mulaw: Uint8Array): void {
    this.#chunks.push(mulaw)
    this.#endByte += mulaw.length
    if (this.endMs - this.startMs > this.#limitMs) this.keepFrom(this.endMs - this.#limitMs)
  }

  /** Lets go of whole chunks that end before `ms`. */
  keepFrom(ms: number): void {
    const limit = ms * BYTES_PER_MS
    let drop = 0
    for (const chunk of this.#chunks) {
      if (this.#firstByte + chunk.length > limit) break
      this.#firstByte += chunk.length
      drop++
    }
    if (drop > 0) this.#chunks.splice(0, drop)
  }

  /** A copy of the kept audio between two instants. */
  slice(fromMs: number, toMs: number): Uint8Array {
    const from = Math.max(this.#firstByte, fromMs * BYTES_PER_MS)
    const to = Math.min(this.#endByte, toMs * BYTES_PER_MS)
    const bytes = Buffer.alloc(Math.max(0, to - from))
    let position = this.#firstByte
    for (const chunk of this.#chunks) {
      if (position >= to) break
      const part = chunk.subarray(Math.max(0, from - position), to - position)
      bytes.set(part, Math.max(0, position - from))
      position += chunk.length
    }
    return bytes
  }
}

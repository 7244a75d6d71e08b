import { BYTES_PER_MS } from './playback.ts'

/** So much of what a caller says while a model session is being opened is kept. */
export const KEPT_MS = 3_000
const MAX_BYTES = KEPT_MS * BYTES_PER_MS
/** Each piece has its own cost, so smaller ones than a carrier sends are not kept without end either. */
const MAX_PIECES = 1_200
/** A base64 group, and what it stands for. */
const GROUP_CHARS = 4
const GROUP_BYTES = 3

/**
 * Keeps the caller's audio, base64 µ-law, while no model takes it. At the bound the oldest goes: what was said last matters
 * most.
 *
 * Payloads are copied, because they are views into a socket's buffer.
 */
export class CallerAudio {
  #payloads: Buffer[] = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#payloads.length === 0
  }

  keep(payload: Buffer): void {
    const newest = Buffer.from(newestOf(payload))
    this.#payloads.push(newest)
    this.#bytes += mulawBytes(newest)
    while (this.#bytes > MAX_BYTES || this.#payloads.length > MAX_PIECES) this.#drop()
  }

  #drop(): void {
    const oldest = this.#payloads.shift()
    if (oldest) this.#bytes -= mulawBytes(oldest)
  }

  /** Hands over what was kept, in order, and keeps nothing of it. */
  take(): Buffer[] {
    const payloads = this.#payloads
    this.#payloads = []
    this.#bytes = 0
    return payloads
  }
}

/** The end of a payload that is longer than all that may be kept. */
function newestOf(payload: Buffer): Buffer {
  const maxChars = (MAX_BYTES / GROUP_BYTES) * GROUP_CHARS
  return payload.length > maxChars ? payload.subarray(payload.length - maxChars) : payload
}

/** Bytes that a base64 text stands for. */
export function mulawBytes(payload: Buffer): number {
  const { length } = payload
  const padding = payload[length - 1] === 0x3d ? (payload[length - 2] === 0x3d ? 2 : 1) : 0
  return (length / GROUP_CHARS) * GROUP_BYTES - padding
}

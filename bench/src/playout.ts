/** µ-law at 8 kHz: one byte a sample. */
const BYTES_PER_MS = 8

type QueuedMark = { name: string; dueMs: number }

/**
 * The carrier's buffer of one call: plays what it was sent at real speed and knows when each mark is due.
 *
 * Pure bookkeeping in the caller's clock (ms); whoever owns it sends the echoes.
 */
export class Playout {
  #endMs = 0
  #marks: QueuedMark[] = []

  /** Queues audio behind what still plays. */
  audio(bytes: number, nowMs: number): void {
    this.#endMs = Math.max(this.#endMs, nowMs) + bytes / BYTES_PER_MS
  }

  /** Queues a mark behind the audio so far. True when nothing is left to play, so that its echo is due at once. */
  mark(name: string, nowMs: number): boolean {
    if (this.#endMs <= nowMs && this.#marks.length === 0) return true
    this.#marks.push({ name, dueMs: this.#endMs })
    return false
  }

  /** Takes the next mark whose audio has played, or nothing. */
  due(nowMs: number): string | undefined {
    const first = this.#marks[0]
    if (first === undefined || first.dueMs > nowMs) return undefined
    this.#marks.shift()
    return first.name
  }

  /** Throws the buffered audio away. Returns all marks that were waiting: a carrier echoes them at once. */
  clear(nowMs: number): string[] {
    const flushed = this.#marks.map((mark) => mark.name)
    this.#marks = []
    this.#endMs = nowMs
    return flushed
  }
}

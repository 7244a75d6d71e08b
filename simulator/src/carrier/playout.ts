import { BYTES_PER_MS, FRAME_BYTES, SILENCE } from '../audio/mulaw.ts'

/** Audio beyond this is discarded, as the carrier does: ten minutes. */
export const MOST_BUFFERED_BYTES = 10 * 60 * 1000 * BYTES_PER_MS

type Queued = { audio: Uint8Array; at: number } | { mark: string }

/** What the line plays next: a whole frame, the marks that are due before it, and where in it a new piece begins. */
export type Played = { frame: Uint8Array; marks: string[]; seams: number[]; playedBytes: number }

/** What a `clear` threw away: the marks to echo at once, and how much audio was never heard. */
export type Cleared = { marks: string[]; droppedBytes: number }

/**
 * The carrier's play-out buffer: it takes audio as fast as it comes and plays it at the line's speed.
 * A mark is due once the audio queued before it has been played: with the next frame, or at once when nothing plays.
 * No timer and no socket: whoever owns it asks for a frame every 20 ms.
 */
export class Playout {
  #queue: Queued[] = []
  #dueMarks: string[] = []
  #playing = false
  #bufferedBytes = 0
  #playedBytes = 0

  /** Audio that waits to be played, in bytes. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /** Audio played so far, in bytes. */
  get playedBytes(): number {
    return this.#playedBytes
  }

  /** Queues audio; false when it was discarded because ten minutes wait already. */
  add(audio: Uint8Array): boolean {
    if (this.#bufferedBytes + audio.length > MOST_BUFFERED_BYTES) return false
    if (audio.length > 0) this.#queue.push({ audio, at: 0 })
    this.#bufferedBytes += audio.length
    return true
  }

  /** Queues a mark; true when nothing is left to play before it, so that it is to be echoed now. */
  mark(name: string): boolean {
    if (!this.#playing && this.#queue.length === 0) return true
    this.#queue.push({ mark: name })
    return false
  }

  /** The next 20 ms of the line. */
  play(): Played {
    const marks = this.#dueMarks
    this.#dueMarks = []
    this.#takeMarks(marks)
    const frame = new Uint8Array(FRAME_BYTES).fill(SILENCE)
    const seams: number[] = []
    let filled = 0
    while (filled < FRAME_BYTES) {
      const head = this.#queue[0]
      if (!head || 'mark' in head) break
      if (head.at === 0) seams.push(filled)
      const piece = head.audio.subarray(head.at, head.at + FRAME_BYTES - filled)
      frame.set(piece, filled)
      filled += piece.length
      head.at += piece.length
      if (head.at === head.audio.length) this.#queue.shift()
      // A mark inside the frame is due when the frame has been played.
      if (filled < FRAME_BYTES) this.#takeMarks(this.#dueMarks)
    }
    this.#playing = filled > 0
    this.#bufferedBytes -= filled
    this.#playedBytes += filled
    return { frame, marks, seams, playedBytes: filled }
  }

  /** Empties the buffer. Every mark that was not echoed yet is due at once. */
  clear(): Cleared {
    const droppedBytes = this.#bufferedBytes
    const marks = this.#dueMarks
    for (const queued of this.#queue) if ('mark' in queued) marks.push(queued.mark)
    this.#queue = []
    this.#dueMarks = []
    this.#bufferedBytes = 0
    this.#playing = false
    return { marks, droppedBytes }
  }

  #takeMarks(into: string[]): void {
    for (let head = this.#queue[0]; head && 'mark' in head; head = this.#queue[0]) {
      into.push(head.mark)
      this.#queue.shift()
    }
  }
}

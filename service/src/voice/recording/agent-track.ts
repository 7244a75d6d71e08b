import { mulawBytes } from '../caller-audio.ts'

/** Audio that was sent: where it plays on the recording's line of time, and where it stands on the carrier's line. */
type Piece = { audio: Buffer; at: number; position: number }

/** What belongs to no line that could still be cut or moved. */
const SETTLED = Number.NEGATIVE_INFINITY
/** Play-out that is this much later than was thought has stood still; less is the way of an echo. */
const STOOD_STILL_FRAMES = 150 * 8
/** Ten minutes, the carrier's own bound for what it keeps. */
const MAX_KEPT_FRAMES = 600_000 * 8

/**
 * What the agent said, as the caller heard it, on the recording's line of time, whose unit is a frame of 1/8,000 s.
 *
 * Audio is sent faster than it plays: it is kept until its time comes, and what is cut off before then was never heard.
 * Positions are those of `playback.ts`: how much was sent since the last `clear`.
 */
export class AgentTrack {
  #pieces: Piece[] = []
  #keptFrames = 0
  #sent = 0
  /** Where the carrier's line begins on the recording's. */
  #origin = SETTLED

  /** Takes a piece of audio, in base64, that leaves at `now`: it plays when all before it has. */
  add(payload: Buffer, now: number): void {
    const count = mulawBytes(payload)
    this.#origin = Math.max(this.#origin, now - this.#sent)
    const position = this.#sent
    this.#sent += count
    if (this.#keptFrames + count > MAX_KEPT_FRAMES) return
    // The payload is a view into a socket's buffer.
    const audio = Buffer.from(payload.toString('latin1'), 'base64')
    this.#pieces.push({ audio, at: this.#origin + position, position })
    this.#keptFrames += audio.length
  }

  /** All of it plays so much later, on a line of time that begins earlier. */
  moveBy(frames: number): void {
    this.#origin += frames
    for (const piece of this.#pieces) piece.at += frames
  }

  /** What stands behind position `heard` is not heard any more, and a new line begins. */
  cut(heard: number): void {
    const kept: Piece[] = []
    for (const { audio, at, position } of this.#pieces) {
      const whole = Math.min(audio.length, Math.max(0, Math.ceil(heard - position)))
      if (whole > 0) kept.push({ audio: audio.subarray(0, whole), at, position: SETTLED })
    }
    this.#pieces = kept
    this.#keptFrames = kept.reduce((sum, { audio }) => sum + audio.length, 0)
    this.#sent = 0
    this.#origin = SETTLED
  }

  /**
   * The carrier has played up to position `confirmed`, on a line that began at `origin`: what comes behind it is later than
   * was thought when play-out stood still.
   */
  confirm(confirmed: number, origin: number): void {
    for (const piece of this.#pieces) {
      if (piece.position < confirmed || origin + piece.position - piece.at < STOOD_STILL_FRAMES) continue
      piece.at = origin + piece.position
      this.#origin = Math.max(this.#origin, origin)
    }
  }

  /** Writes what was heard from `from` on into every second byte of a block, from its second on. */
  copyTo(block: Uint8Array, from: number, count: number): void {
    for (const { audio, at } of this.#pieces) {
      const end = Math.min(from + count, at + audio.length)
      for (let i = Math.max(from, at); i < end; i++) block[2 * (i - from) + 1] = audio[i - at] as number
    }
  }

  /** Lets go of what was heard before `until`. */
  free(until: number): void {
    const isOver = ({ audio, at }: Piece) => at + audio.length <= until
    while (this.#pieces[0] && isOver(this.#pieces[0])) {
      this.#keptFrames -= this.#pieces[0].audio.length
      this.#pieces.shift()
    }
  }
}

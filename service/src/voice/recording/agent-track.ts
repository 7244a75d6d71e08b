import { mulawBytes } from '../caller-audio.ts'

/**
 * Audio that was sent: where it plays on the recording's line of time, before which it does not by when it was sent, and where it
 * stands on the carrier's line.
 */
type Piece = { audio: Buffer; at: number; earliest: number; position: number }

/** What belongs to no line that could still be cut or moved. */
const SETTLED = Number.NEGATIVE_INFINITY
/** Play-out that is this much later than was thought has stood still; less is the way of an echo. */
const STOOD_STILL_FRAMES = 150 * 8
/** No later than this, and it has not stood still at all. */
const ON_TIME_FRAMES = 75 * 8
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
  /** Where the carrier's line begins on the recording's, and before where it does not by when its audio was sent. */
  #origin = SETTLED
  #earliest = SETTLED

  /** Takes a piece of audio, in base64, that leaves at `now`: it plays when all before it has. */
  add(payload: Buffer, now: number): void {
    const count = mulawBytes(payload)
    this.#earliest = Math.max(this.#earliest, now - this.#sent)
    this.#origin = Math.max(this.#origin, this.#earliest)
    const position = this.#sent
    this.#sent += count
    if (this.#keptFrames + count > MAX_KEPT_FRAMES) return
    // The payload is a view into a socket's buffer.
    const audio = Buffer.from(payload.toString('latin1'), 'base64')
    this.#pieces.push({ audio, at: this.#origin + position, earliest: this.#earliest + position, position })
    this.#keptFrames += audio.length
  }

  /** All of it plays so much later, on a line of time that begins earlier. */
  moveBy(frames: number): void {
    this.#origin += frames
    this.#earliest += frames
    for (const piece of this.#pieces) {
      piece.at += frames
      piece.earliest += frames
    }
  }

  /** What stands behind position `heard` is not heard any more, and a new line begins. */
  cut(heard: number): void {
    const kept: Piece[] = []
    for (const { audio, at, earliest, position } of this.#pieces) {
      const whole = Math.min(audio.length, Math.max(0, Math.ceil(heard - position)))
      if (whole > 0) kept.push({ audio: audio.subarray(0, whole), at, earliest, position: SETTLED })
    }
    this.#pieces = kept
    this.#keptFrames = kept.reduce((sum, { audio }) => sum + audio.length, 0)
    this.#sent = 0
    this.#origin = SETTLED
    this.#earliest = SETTLED
  }

  /**
   * The carrier has played up to position `confirmed`, on a line that began at `origin`: what comes behind it is later than
   * was thought when play-out stood still. An echo that is itself late looks the same, until one behind it tells that nothing
   * stood still: what is not written by then goes back to where it played.
   */
  confirm(confirmed: number, origin: number): void {
    if (this.#origin === SETTLED) return
    this.#origin += movedBy(this.#origin, this.#earliest, origin)
    for (const piece of this.#pieces) {
      if (piece.position === SETTLED) continue
      const frames = movedBy(piece.at, piece.earliest, origin + piece.position)
      if (frames < 0 || piece.position >= confirmed) piece.at += frames
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
    let over = 0
    for (const { audio, at } of this.#pieces) {
      if (at + audio.length > until) break
      this.#keptFrames -= audio.length
      over += 1
    }
    // At once: a long list is moved as a whole by each that leaves it.
    if (over > 0) this.#pieces.splice(0, over)
  }
}

/** By how much what is thought to play at `at` is to be moved, which does not before `earliest`, and does at `told` by an echo. */
function movedBy(at: number, earliest: number, told: number): number {
  if (told - earliest <= ON_TIME_FRAMES) return earliest - at
  return Math.abs(told - at) >= STOOD_STILL_FRAMES ? told - at : 0
}

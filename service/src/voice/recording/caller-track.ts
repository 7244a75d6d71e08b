import { SILENCE } from '../../records/recording-wav.ts'
import { mulawBytes } from '../caller-audio.ts'
import { loudBytes } from '../loudness.ts'
import { decodeInto } from './decode-into.ts'

/** 8.2 s of µ-law; a power of two, so that a place in it is found by a mask. */
const RING_FRAMES = 65_536
const MASK = RING_FRAMES - 1
/** A caller's frame this late has lost others before it, or was held up. */
const GAP_FRAMES = 240 * 8
/** Nobody speaks faster than time passes: what is further ahead of it is not taken. */
const MAX_AHEAD_FRAMES = 6_000 * 8

/**
 * What the caller said, on the recording's line of time, whose unit is a frame of 1/8,000 s. A frame is put right behind the
 * one before it: that it comes some ms early or late is the network's doing. One that comes much later leaves a gap of
 * silence before it; if those that were missing come in one go behind it, they were only held up, and the gap closes again.
 * What was let go of by then cannot be: those stand later than they were heard, and the pauses behind them are left out
 * until it is made up for.
 */
export class CallerTrack {
  readonly #ring = new Uint8Array(RING_FRAMES).fill(SILENCE)
  /** Where the next frame goes, and up to where all was let go of. */
  #next = 0
  #floor = 0
  #gapAt = 0
  #gapFrames = 0

  /**
   * Takes a piece of audio, in base64, whose last sample was heard at `endsAt`.
   *
   * @returns how far the audio so far is ahead of that instant; negative when it is behind.
   */
  add(payload: Buffer, endsAt: number): number {
    const count = mulawBytes(payload)
    const lateBy = endsAt - count - this.#next
    if (lateBy > GAP_FRAMES) this.#openGap(lateBy)
    else if (lateBy < 0 && this.#gapFrames > 0) this.#closeGap(-lateBy)
    if (this.#floor > 0 && this.#next - endsAt >= 0 && loudBytes(payload) === 0) return this.#next - endsAt
    const isTooMuch = this.#next + count - this.#floor > RING_FRAMES || this.#next - endsAt > MAX_AHEAD_FRAMES
    if (!isTooMuch) this.#next += decodeInto(payload, this.#ring, this.#next)
    return this.#next - endsAt
  }

  #openGap(frames: number): void {
    this.#gapAt = this.#next
    this.#gapFrames = frames
    this.#next += frames
  }

  /** Moves what stands behind the gap to the left. What was written already stays: the gap then begins behind it. */
  #closeGap(wantedFrames: number): void {
    const begin = Math.max(this.#gapAt, this.#floor)
    const after = this.#gapAt + this.#gapFrames
    const frames = Math.min(wantedFrames, after - begin)
    if (frames <= 0) return
    for (let at = after; at < this.#next; at++) this.#ring[(at - frames) & MASK] = this.#ring[at & MASK] as number
    this.#silence(this.#next - frames, this.#next)
    this.#next -= frames
    this.#gapFrames -= frames
  }

  /** Writes what was heard from `from` on into every second byte of a block, from its first on. */
  copyTo(block: Uint8Array, from: number, count: number): void {
    for (let i = 0; i < count; i++) block[2 * i] = this.#ring[(from + i) & MASK] as number
  }

  /** Lets go of what was heard before `until`. */
  free(until: number): void {
    if (until <= this.#floor) return
    this.#silence(Math.max(this.#floor, until - RING_FRAMES), until)
    this.#floor = until
    this.#next = Math.max(this.#next, until)
    if (this.#gapAt + this.#gapFrames <= until) this.#gapFrames = 0
  }

  /** The ring is silent wherever nobody wrote, so that a gap costs nothing. */
  #silence(from: number, until: number): void {
    for (let at = from; at < until; at++) this.#ring[at & MASK] = SILENCE
  }
}

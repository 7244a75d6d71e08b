import type { AudioRooms } from './audio-rooms.ts'
import { BYTES_PER_MS, lineHeardMs, type Playback } from './playback.ts'
import { isOwnAudio } from './session/own-audio.ts'

/**
 * A piece of the agent's audio, base64 µ-law, and where it lies on the carrier's line, as `playback.ts` counts it. It is the first
 * `bytes` of its room: a view of them is made when it is wanted, which it hardly ever is.
 */
type Piece = { itemId: string; room: Buffer; bytes: number; fromMs: number; ms: number }

/** So much of what the caller has not heard yet is kept of a call. */
const MAX_MS = 10_000
/** Each piece has its own room, and its own cost when it is let go, so smaller ones than models send are not kept without end either. */
const MAX_PIECES = 2_000

/**
 * Keeps what was sent to the caller until it was heard, without a gap from what is heard next on, so that an agent who was stopped
 * by nothing can go on. What comes when there is no room for more is not kept, nor what follows it.
 *
 * Payloads are copied, because they are views into a socket's buffer, into rooms that all calls share.
 */
export class UnheardAudio {
  readonly #rooms: AudioRooms
  #pieces: Piece[] = []
  #aside: Piece[] = []
  #sentMs = 0
  #keptMs = 0
  #hasGap = false

  constructor(rooms: AudioRooms) {
    this.#rooms = rooms
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#aside.length === 0
  }

  /** A piece of an item has left for the caller. */
  add(itemId: string, payload: Buffer, ms: number): void {
    const fromMs = this.#sentMs
    this.#sentMs += ms
    // Nobody goes on with music, or with what a person says.
    if (isOwnAudio(itemId)) return
    this.#hasGap ||= this.#keptMs + ms > MAX_MS || this.#pieces.length >= MAX_PIECES
    if (this.#hasGap) return
    const room = this.#rooms.take(payload.length)
    this.#pieces.push({ itemId, room, bytes: payload.copy(room), fromMs, ms })
    this.#keptMs += ms
  }

  /** What was heard is let go; when the line begins anew, what was not is set aside. */
  follow(before: Playback, after: Playback, nowMs: number): void {
    if (after.sentMs < before.sentMs) this.#beginLine(lineHeardMs(before, nowMs))
    else if (after.confirmedMs > before.confirmedMs) this.#heardTo(after.confirmedMs)
  }

  #heardTo(lineMs: number): void {
    const isHeard = ({ fromMs, ms }: Piece) => fromMs + ms <= lineMs
    for (let piece = this.#pieces[0]; piece && isHeard(piece); piece = this.#pieces[0]) {
      this.#pieces.shift()
      this.#keptMs -= piece.ms
      this.#rooms.giveBack(piece.room)
    }
    if (lineMs >= this.#sentMs) this.#hasGap = false
  }

  #beginLine(heardMs: number): void {
    this.#heardTo(heardMs)
    const [first, ...others] = this.#pieces
    const isCut = first !== undefined && first.fromMs < heardMs
    this.dropAside()
    this.#aside = isCut ? [behind(first, heardMs), ...others] : this.#pieces
    this.#pieces = []
    this.#sentMs = 0
    this.#keptMs = 0
    this.#hasGap = false
  }

  /** What was set aside, which is kept no longer. */
  takeAside(): { itemId: string; payload: Buffer }[] {
    const aside = this.#aside
    this.#aside = []
    return aside.map(({ itemId, room, bytes }) => ({ itemId, payload: room.subarray(0, bytes) }))
  }

  /** The same, of which nothing is to be had. */
  dropAside(): void {
    for (const { room } of this.#aside) this.#rooms.giveBack(room)
    this.#aside = []
  }

  close(): void {
    this.dropAside()
    for (const { room } of this.#pieces) this.#rooms.giveBack(room)
    this.#pieces = []
    this.#hasGap = true
  }
}

/** What of a piece lies behind a place on the line. */
function behind({ itemId, room, bytes, fromMs, ms }: Piece, heardMs: number): Piece {
  const mulaw = Buffer.from(room.toString('latin1', 0, bytes), 'base64').subarray(
    Math.round((heardMs - fromMs) * BYTES_PER_MS),
  )
  const left = room.write(mulaw.toString('base64'), 'latin1')
  return { itemId, room, bytes: left, fromMs: heardMs, ms: fromMs + ms - heardMs }
}

import { decodeMulaw, encodeMulaw, FRAME_BYTES, SILENCE } from '../audio/mulaw.ts'
import { keyTones } from '../audio/tone.ts'
import type { FarEnd, Heard } from './far-end.ts'

// Two parties' clocks are not one: this much may wait between them, and what is more is dropped, oldest first.
const MOST_WAITING_FRAMES = 10

/** Where parties hear one another: the two of a `<Dial>`, or those of a conference. */
export class Room {
  #seats = new Set<Seat>()

  /** Takes a seat for a party; a muted one hears and is not heard. */
  join({ isMuted = false, onKey }: { isMuted?: boolean; onKey?: (digit: string) => void } = {}): RoomSeat {
    const seat = new Seat(this.#seats, isMuted, onKey)
    this.#seats.add(seat)
    return seat
  }

  get parties(): number {
    return this.#seats.size
  }
}

/** A party's place in a room. */
export type RoomSeat = FarEnd & {
  /** Gives the place up. Repeats change nothing. */
  leave(): void
}

class Seat implements RoomSeat {
  #seats: Set<Seat>
  #isMuted: boolean
  #onKey: ((digit: string) => void) | undefined
  #inbox = new Map<Seat, Uint8Array[]>()
  #tones: Uint8Array = new Uint8Array()

  constructor(seats: Set<Seat>, isMuted: boolean, onKey: ((digit: string) => void) | undefined) {
    this.#seats = seats
    this.#isMuted = isMuted
    this.#onKey = onKey
  }

  exchange(voice: Uint8Array): Heard {
    const spoken = this.#withTones(voice)
    for (const other of this.#seats) if (other !== this && !this.#isMuted) other.#take(this, spoken)
    const frames = [...this.#inbox.values()].flatMap((waiting) => waiting.shift() ?? [])
    return { frame: mix(frames), seams: [] }
  }

  key(digit: string): void {
    this.#tones = keyTones(digit)
    this.#onKey?.(digit)
  }

  leave(): void {
    this.#seats.delete(this)
    for (const other of this.#seats) other.#inbox.delete(this)
  }

  #take(from: Seat, frame: Uint8Array): void {
    const waiting = this.#inbox.get(from) ?? []
    waiting.push(frame)
    if (waiting.length > MOST_WAITING_FRAMES) waiting.shift()
    this.#inbox.set(from, waiting)
  }

  /** A pressed key is heard by the others in place of the voice. */
  #withTones(voice: Uint8Array): Uint8Array {
    if (this.#tones.length === 0) return voice
    const frame = new Uint8Array(FRAME_BYTES).fill(SILENCE)
    frame.set(this.#tones.subarray(0, FRAME_BYTES))
    this.#tones = this.#tones.subarray(FRAME_BYTES)
    return frame
  }
}

/** One voice passes as it is, byte for byte; several are added up. */
function mix(frames: Uint8Array[]): Uint8Array {
  const [first, ...others] = frames
  if (!first) return new Uint8Array(FRAME_BYTES).fill(SILENCE)
  if (others.length === 0) return first
  const sum = Int32Array.from(decodeMulaw(first))
  for (const samples of others.map(decodeMulaw)) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (samples[i] ?? 0)
  }
  return encodeMulaw(Int16Array.from(sum, (sample) => Math.max(-32768, Math.min(32767, sample))))
}

import type { Cancel, Clock } from '../../kernel/clock.ts'
import type { AudioEars } from '../media-path.ts'
import { BYTES_PER_MS } from '../playback.ts'
import type { AudioBatch } from './line.ts'

type Listener = (batch: AudioBatch) => void

/** How often listeners are sent what there is. */
const BATCH_MS = 100
/** A process that stands still for longer loses the audio of that time for those who listen. */
const MAX_BATCH_MS = 500
/** Ten minutes, the carrier's own bound for what it keeps. */
const MAX_AHEAD_BYTES = 600_000 * BYTES_PER_MS

/**
 * What is said in a call, for people who listen to it: each 100 ms what the caller has said, and what the caller has heard. The
 * agent's audio is sent faster than it plays, so it is kept here until its time has come, and forgotten when the carrier's buffer is
 * cleared. All of it happens only while somebody listens.
 */
export class CallAudio implements AudioEars {
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  readonly #startMs: number
  #stopTicking: Cancel | null = null
  #tickedMs = 0
  #said: Buffer[] = []
  #toPlay: Buffer[] = []
  #toPlayBytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startMs = clock.monotonicMs()
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0
  }

  /** Sends what is said from now on to `listener`, until the function that this returns is called. */
  add(listener: Listener): Cancel {
    this.#listeners.add(listener)
    if (!this.#stopTicking) {
      this.#tickedMs = this.#clock.monotonicMs()
      this.#stopTicking = this.#clock.every(BATCH_MS, () => this.#tick())
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.isIdle) this.close()
    }
  }

  caller(payload: Buffer): void {
    this.#said.push(decoded(payload))
  }

  agent(payload: Buffer): void {
    const audio = decoded(payload)
    if (this.#toPlayBytes + audio.length > MAX_AHEAD_BYTES) return
    this.#toPlay.push(audio)
    this.#toPlayBytes += audio.length
  }

  cleared(): void {
    this.#toPlay = []
    this.#toPlayBytes = 0
  }

  /** Nobody listens any more. */
  close(): void {
    this.#stopTicking?.()
    this.#stopTicking = null
    this.#listeners.clear()
    this.#said = []
    this.cleared()
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    const passedMs = Math.min(MAX_BATCH_MS, Math.round(nowMs - this.#tickedMs))
    this.#tickedMs = nowMs
    const inbound = Buffer.concat(this.#said).subarray(-MAX_BATCH_MS * BYTES_PER_MS)
    this.#said = []
    const batch = {
      atMs: Math.max(0, Math.round(nowMs - passedMs - this.#startMs)),
      inbound: inbound.toString('base64'),
      outbound: this.#played(passedMs * BYTES_PER_MS).toString('base64'),
    }
    for (const listener of this.#listeners) listener(batch)
  }

  /** What plays in the time of so many bytes. */
  #played(bytes: number): Buffer {
    const pieces: Buffer[] = []
    let missing = Math.min(bytes, this.#toPlayBytes)
    this.#toPlayBytes -= missing
    while (missing > 0) {
      const first = this.#toPlay[0] as Buffer
      pieces.push(first.subarray(0, missing))
      if (first.length > missing) this.#toPlay[0] = first.subarray(missing)
      else this.#toPlay.shift()
      missing -= Math.min(missing, first.length)
    }
    return Buffer.concat(pieces)
  }
}

/** The payload is a view into a socket's buffer. */
function decoded(payload: Buffer): Buffer {
  return Buffer.from(payload.toString('latin1'), 'base64')
}

import type { Cancel, Clock } from '../../kernel/clock.ts'
import type { FrameSocket, FrameSocketListener } from '../http/frame-socket.ts'
import { whenSentAway } from '../http/still-let-in.ts'
import type { LineFollower } from './live-log.ts'
import type { LogLine } from './log-line.ts'

/** What may wait for a slow reader; lines beyond it are dropped, and told once there is room again. */
const MAX_WAITING_BYTES = 256 * 1024
/** A reader that makes no room for so long is let go. */
const MAX_STUCK_MS = 15_000
const LOOK_INTERVAL_MS = 1_000

const TRY_AGAIN = 1013
const UNAUTHENTICATED = 4401

type Deps = {
  clock: Clock
  /** Whether the reader may still read; rejects when that is not known now. */
  mayStay(): Promise<boolean>
  /** As the reader may see it. */
  shown(line: LogLine): LogLine
  onClosed(): void
}

/** A socket that follows the log: each message is a line in JSON, or tells how many were dropped. */
export class LogSocket implements LineFollower, FrameSocketListener {
  readonly #socket: FrameSocket
  readonly #deps: Deps
  readonly #stops: Cancel[]
  #dropped = 0
  #stuckSinceMs: number | null = null

  constructor(socket: FrameSocket, deps: Deps) {
    this.#socket = socket
    this.#deps = deps
    const { clock } = deps
    this.#stops = [
      clock.every(LOOK_INTERVAL_MS, () => this.#look()),
      whenSentAway(clock, deps.mayStay, () => socket.close(UNAUTHENTICATED, 'The credential is not good any more.')),
    ]
  }

  line(line: LogLine): void {
    if (this.#isFull()) this.#dropped += 1
    else {
      this.#tellDropped()
      this.#send(this.#deps.shown(line))
    }
  }

  lost(count: number): void {
    this.#dropped += count
  }

  /** What a reader says is of no interest. */
  frame(): void {}

  closed(): void {
    for (const stop of this.#stops) stop()
    this.#deps.onClosed()
  }

  #isFull(): boolean {
    return this.#socket.bufferedBytes() > MAX_WAITING_BYTES
  }

  #look(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (!this.#isFull()) {
      this.#stuckSinceMs = null
      this.#tellDropped()
      return
    }
    this.#stuckSinceMs ??= nowMs
    // What waits before it would keep the goodbye from ever being read.
    if (nowMs - this.#stuckSinceMs >= MAX_STUCK_MS) void this.#socket.closeWithin(TRY_AGAIN, LOOK_INTERVAL_MS)
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return
    this.#send({ type: 'dropped', count: this.#dropped })
    this.#dropped = 0
  }

  #send(message: object): void {
    this.#socket.send([Buffer.from(JSON.stringify(message))])
  }
}

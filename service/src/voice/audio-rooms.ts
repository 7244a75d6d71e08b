/** Rooms are of whole steps, so that audio of any length finds one that another has left. */
const STEP_BYTES = 512
/** So much is kept for what is to come: what a few hundred calls have at a time. */
const MAX_IDLE_BYTES = 8 * 1024 * 1024

/**
 * Memory for audio that is kept for seconds, used again by all calls of the process: it lives too long for the quick collector, and to
 * make it anew all the time would have the slow one come every few seconds. A call needs much of it for a moment and little on average, so
 * that together they need half of what each would have to keep for itself.
 */
export class AudioRooms {
  /** By their length in steps. */
  readonly #idle: Buffer[][] = []
  readonly #maxIdleBytes: number
  #idleBytes = 0

  constructor(maxIdleBytes = MAX_IDLE_BYTES) {
    this.#maxIdleBytes = maxIdleBytes
  }

  /** A room of at least so many bytes; what is in it is what somebody left. */
  take(bytes: number): Buffer {
    const steps = Math.max(1, Math.ceil(bytes / STEP_BYTES))
    const room = this.#idle[steps]?.pop()
    if (room === undefined) return Buffer.allocUnsafeSlow(steps * STEP_BYTES)
    this.#idleBytes -= room.length
    return room
  }

  /** Gives a room back that was taken, once: it is another's from now on. */
  giveBack(room: Buffer): void {
    if (this.#idleBytes + room.length > this.#maxIdleBytes) return
    const steps = room.length / STEP_BYTES
    this.#idle[steps] ??= []
    this.#idle[steps].push(room)
    this.#idleBytes += room.length
  }
}

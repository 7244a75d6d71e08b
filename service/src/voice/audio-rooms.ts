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
  /** By their length in steps, in the order in which there was last none of it. */
  readonly #idle = new Map<number, Buffer[]>()
  readonly #maxIdleBytes: number
  #idleBytes = 0

  constructor(maxIdleBytes = MAX_IDLE_BYTES) {
    this.#maxIdleBytes = maxIdleBytes
  }

  /** A room of at least so many bytes; what is in it is what somebody left. */
  take(bytes: number): Buffer {
    const steps = Math.max(1, Math.ceil(bytes / STEP_BYTES))
    const room = this.#idle.get(steps)?.pop()
    if (room === undefined) return this.#makeRoom(steps)
    this.#idleBytes -= room.length
    return room
  }

  /** Gives a room back that was taken, once: it is another's from now on. */
  giveBack(room: Buffer): void {
    if (room.length > this.#maxIdleBytes) return
    while (this.#idleBytes + room.length > this.#maxIdleBytes) this.#dropOne()
    const steps = room.length / STEP_BYTES
    const alike = this.#idle.get(steps) ?? []
    this.#idle.set(steps, alike)
    alike.push(room)
    this.#idleBytes += room.length
  }

  /** What there was none of is wanted now: of that the last is let go. */
  #makeRoom(steps: number): Buffer {
    this.#idle.delete(steps)
    this.#idle.set(steps, [])
    return Buffer.allocUnsafeSlow(steps * STEP_BYTES)
  }

  /** One of a length of which there was enough for longest: what calls have now may be of other lengths than what they had. */
  #dropOne(): void {
    for (const [steps, alike] of this.#idle) {
      const room = alike.pop()
      if (room) {
        this.#idleBytes -= room.length
        return
      }
      this.#idle.delete(steps)
    }
  }
}

import { atDeadline, systemClock } from '../../kernel/clock.ts'

/** Bounds how many connections those who only look at something have at a time: some are left to calls, and to all that changes. */
export class ReadShare {
  readonly #withinMs: number
  #free: number
  /** Whoever has waited longest comes first. */
  readonly #waiting = new Set<() => void>()

  /** @param share `withinMs`: who waits longer for a connection gets none. */
  constructor(share: { connections: number; withinMs: number }) {
    this.#free = share.connections
    this.#withinMs = share.withinMs
  }

  /**
   * Resolves once there is a connection for them, with what gives it back.
   *
   * @throws Error as the pool's own, when there is none in time.
   */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1
    else await this.#turn()
    return () => {
      const [next] = this.#waiting
      if (next) next()
      else this.#free += 1
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        cancel()
        this.#waiting.delete(begin)
        resolve()
      }
      const cancel = atDeadline(systemClock, this.#withinMs, () => {
        this.#waiting.delete(begin)
        reject(new Error('timeout exceeded when trying to connect'))
      })
      this.#waiting.add(begin)
    })
  }
}

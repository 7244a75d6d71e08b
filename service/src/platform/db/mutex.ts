import { type Cancel, type Clock, systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'

/** How long the line may be, and how long one may stand in it. */
type MutexLimits = { maxWaiting: number; waitTimeoutMs: number }

type Waiter = { admit: () => void; cancelTimeout: Cancel }

/**
 * Lets one holder in at a time, in the order of arrival.
 *
 * Both limits end in AppError `unavailable`. The time limit also frees whoever asks for a second turn while holding one.
 */
export class Mutex {
  readonly #limits: MutexLimits
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  #held = false
  #closed = false

  constructor(limits: MutexLimits, clock: Clock = systemClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Whether nobody has a turn, nor waits for one. */
  get isFree(): boolean {
    return !this.#held
  }

  /** Resolves when it is the caller's turn; the caller must `release` afterwards. */
  acquire(): Promise<void> {
    if (this.#closed) return Promise.reject(closed())
    if (!this.#held) {
      this.#held = true
      return Promise.resolve()
    }
    if (this.#waiting.size >= this.#limits.maxWaiting) return Promise.reject(busy())
    return this.#wait()
  }

  /** Ends the holder's turn. */
  release(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#held = false
      return
    }
    this.#leave(next)
    next.admit()
  }

  /**
   * Lets nobody join the line any more. Resolves when everybody in it has had a turn; then it stays held.
   *
   * @throws AppError `unavailable` when the last turn has not ended within the time limit.
   */
  close(): Promise<void> {
    this.#closed = true
    if (this.#held) return this.#wait()
    this.#held = true
    return Promise.resolve()
  }

  #wait(): Promise<void> {
    return new Promise((admit, refuse) => {
      const expire = () => {
        this.#leave(waiter)
        refuse(busy())
      }
      const waiter: Waiter = { admit, cancelTimeout: this.#clock.after(this.#limits.waitTimeoutMs, expire) }
      this.#waiting.add(waiter)
    })
  }

  #leave(waiter: Waiter): void {
    waiter.cancelTimeout()
    this.#waiting.delete(waiter)
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'The database is busy. Try again.')
}

function closed(): AppError {
  return new AppError('unavailable', 'The database is closed. Try again.')
}

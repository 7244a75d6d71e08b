import { AppError } from '../kernel/errors.ts'
import { addressKey, makeTrusts } from '../platform/http/trust.ts'

/** A socket that has not shown yet whose it is. Releasing it twice does nothing. */
export type Seat = { release(): void }

const MAX_PER_ADDRESS = 20
const MAX_IN_ALL = 500

const isLoopback = makeTrusts(['127.0.0.0/8', '::1'])

/**
 * How many sockets may be open before they have shown a token: 20 of an address (IPv6: of a /64), 500 in all. Programs of
 * this machine share its loopback address, a tunnel or a proxy among them, and are only counted in all.
 */
export class PreStartSeats {
  readonly #counts = new Map<string, number>()
  #taken = 0

  /** @throws AppError `rate_limited` when the address has its share, `unavailable` when there is no seat left at all. */
  take(address: string): Seat {
    const key = addressKey(address)
    const count = this.#counts.get(key) ?? 0
    if (!isLoopback(key, 0) && count >= MAX_PER_ADDRESS) {
      const headers = { 'retry-after': '5' }
      throw new AppError('rate_limited', 'Too many streams of this address have not started yet.', { headers })
    }
    if (this.#taken >= MAX_IN_ALL) throw new AppError('unavailable', 'Too many streams have not started yet.')
    this.#counts.set(key, count + 1)
    this.#taken += 1
    let isTaken = true
    return {
      release: () => {
        if (isTaken) this.#release(key)
        isTaken = false
      },
    }
  }

  /** Seats that are taken now. */
  get taken(): number {
    return this.#taken
  }

  #release(key: string): void {
    this.#taken -= 1
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else this.#counts.delete(key)
  }
}

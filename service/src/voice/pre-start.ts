import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { addressKey, makeTrusts } from '../platform/http/trust.ts'

/** A socket that has not shown yet whose it is. Only the first of `letIn`, `refused`, `leave` and `release` does anything. */
export type Seat = {
  /** It has shown a good token: its address is one that calls come from. */
  letIn(): void
  /** It has shown a wrong one, which counts for whatever address. */
  refused(): void
  /** It was not found out whose it is, for want of ours: that says nothing of its address. */
  leave(): void
  /** It is over before it was let in. */
  release(): void
  /** What closes the socket, should another one need the seat. */
  onDropped(drop: () => void): void
}

type Deps = {
  clock: Pick<Clock, 'monotonicMs'>
  /** Told of an address whose socket ended without having been let in, unless calls come from it. */
  failed?(address: string): void
  /** @throws AppError `rate_limited` when too much of that address has failed. */
  refuseFull?(address: string): void
}

type Taken = { key: string; drop: () => void }

const MAX_PER_ADDRESS = 20
const MAX_IN_ALL = 500
/** So long after a good token an address is taken for one that calls come from: callers hang up before a stream has begun, too. */
const KNOWN_MS = 30 * 60_000
const MAX_KNOWN = 10_000

const isLoopback = makeTrusts(['127.0.0.0/8', '::1'])

/**
 * How many sockets may be open before they have shown a token: 20 of an address (IPv6: of a /64), 500 in all. Programs of
 * this machine share its loopback address, a tunnel or a proxy among them, and are only counted in all.
 *
 * When all are taken, the address that has the most loses the one that has been silent for longest: strangers who keep sockets open
 * shut nobody out.
 */
export class PreStartSeats {
  readonly #deps: Deps
  /** Oldest first. */
  readonly #taken = new Set<Taken>()
  /** When an address has last shown a good token. */
  readonly #knownAtMs = new Map<string, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @throws AppError `rate_limited` when the address has its share, or has failed too often. */
  take(address: string): Seat {
    const key = addressKey(address)
    if (!this.#isTrusted(key)) this.#deps.refuseFull?.(address)
    if (!isLoopback(key, 0) && (this.#counts().get(key) ?? 0) >= MAX_PER_ADDRESS) {
      const headers = { 'retry-after': '5' }
      throw new AppError('rate_limited', 'Too many streams of this address have not started yet.', { headers })
    }
    if (this.#taken.size >= MAX_IN_ALL) this.#makeRoom()
    const taken: Taken = { key, drop: () => {} }
    this.#taken.add(taken)
    return {
      letIn: () => {
        if (this.#taken.delete(taken)) this.#know(key)
      },
      refused: () => {
        if (this.#taken.delete(taken)) this.#deps.failed?.(address)
      },
      leave: () => void this.#taken.delete(taken),
      release: () => {
        if (this.#taken.delete(taken) && !this.#isTrusted(key)) this.#deps.failed?.(address)
      },
      onDropped: (drop) => {
        taken.drop = drop
      },
    }
  }

  /** Seats that are taken now. */
  get taken(): number {
    return this.#taken.size
  }

  #makeRoom(): void {
    const counts = this.#counts()
    const strangers = [...this.#taken].filter(({ key }) => !this.#isTrusted(key))
    const among = strangers.length > 0 ? strangers : [...this.#taken]
    const most = Math.max(...among.map(({ key }) => counts.get(key) ?? 0))
    const oldest = among.find(({ key }) => counts.get(key) === most)
    oldest?.drop()
    if (oldest) this.#taken.delete(oldest)
  }

  #counts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { key } of this.#taken) counts.set(key, (counts.get(key) ?? 0) + 1)
    return counts
  }

  /** All of a carrier's calls come from a few addresses: what fails there is no reason to turn the others away. */
  #isTrusted(key: string): boolean {
    const atMs = this.#knownAtMs.get(key)
    return isLoopback(key, 0) || (atMs !== undefined && this.#deps.clock.monotonicMs() - atMs < KNOWN_MS)
  }

  #know(key: string): void {
    this.#knownAtMs.delete(key)
    this.#knownAtMs.set(key, this.#deps.clock.monotonicMs())
    const [oldest] = this.#knownAtMs.keys()
    if (this.#knownAtMs.size > MAX_KNOWN && oldest !== undefined) this.#knownAtMs.delete(oldest)
  }
}

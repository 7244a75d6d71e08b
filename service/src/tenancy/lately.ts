import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'

/** How long what was good stands while the database cannot say whether it still is. */
const STANDS_MS = 600_000
const MAX_KEPT = 1_000

/** Which owners, or which hash, were to be forgotten, and what was after that. */
type Forgetting<Owner> = {
  isMeant: (owner: Owner, hash: string) => boolean
  next: Forgetting<Owner> | null
}

/**
 * Whose credentials were good when they were asked for last, by their hash, for ten minutes. Of 1,000 the one that was asked for longest ago
 * goes. What was found to be good no more, or was revoked here, is not in it.
 */
export class Lately<Owner> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #owners = new Map<string, { owner: Owner; atMs: number }>()
  /** The last one. Those before it are held by the look-ups that began before them, and by nobody else. */
  #forgotten: Forgetting<Owner> = { isMeant: () => false, next: null }

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** What a look-up notes before it asks the database: what is forgotten from here on its answer does not bring back. */
  begin(): Forgetting<Owner> {
    return this.#forgotten
  }

  /** What the database has said of it: null that it is not good. Dropped when it was forgotten after the look-up had begun. */
  note(hash: string, owner: Owner | null, begun: Forgetting<Owner>): void {
    if (owner !== null && isForgotten(owner, hash, begun)) return
    this.#owners.delete(hash)
    if (owner === null) return
    this.#owners.set(hash, { owner, atMs: this.#clock.monotonicMs() })
    const [oldest] = this.#owners.keys()
    if (this.#owners.size > MAX_KEPT && oldest !== undefined) this.#owners.delete(oldest)
  }

  /** Forgets those of such owners, or of such a hash, also those that are being looked up. */
  forget(isMeant: Forgetting<Owner>['isMeant']): void {
    const forgotten = { isMeant, next: null }
    this.#forgotten.next = forgotten
    this.#forgotten = forgotten
    for (const [hash, { owner }] of this.#owners) if (isMeant(owner, hash)) this.#owners.delete(hash)
  }

  get(hash: string): Owner | null {
    const known = this.#owners.get(hash)
    return known && this.#clock.monotonicMs() - known.atMs < STANDS_MS ? known.owner : null
  }
}

function isForgotten<Owner>(owner: Owner, hash: string, begun: Forgetting<Owner>): boolean {
  for (let since = begun.next; since !== null; since = since.next) if (since.isMeant(owner, hash)) return true
  return false
}

/**
 * A look-up of credentials in whose place stands, for who `mayStand`, what was good lately, while the database is away. A refusal stays
 * one.
 */
export function orLately<Asking extends { mayStand: boolean }, Owner>(
  find: (secret: string, asking: Asking) => Promise<Owner | null>,
  lately: (secret: string) => Owner | null,
): (secret: string, asking: Asking) => Promise<Owner | null> {
  return (secret, asking) =>
    find(secret, asking).catch((error: unknown) => {
      const isAway = error instanceof AppError && error.code === 'unavailable'
      const owner = isAway && asking.mayStand ? lately(secret) : null
      if (owner === null) throw error
      return owner
    })
}

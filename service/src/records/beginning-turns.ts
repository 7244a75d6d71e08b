import type { TenantId } from '../kernel/ids.ts'
import { Mutex } from '../platform/db/mutex.ts'

/** As long as one waits for a connection. */
const LIMITS = { maxWaiting: 1_000, waitTimeoutMs: 5_000 }

/**
 * Lets a tenant's transactions that wait for each other in the database do it here, before they take a connection: a burst of one
 * tenant holds one, and the others are for everybody else.
 */
export class BeginningTurns {
  readonly #lines = new Map<TenantId, { turn: Mutex; users: number }>()

  /** Does the work when it is its turn. @throws AppError `unavailable` after five seconds, or behind 1,000 others. */
  async inTurn<T>(tenantId: TenantId, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(tenantId) ?? { turn: new Mutex(LIMITS), users: 0 }
    this.#lines.set(tenantId, line)
    line.users += 1
    try {
      await line.turn.acquire()
      return await work().finally(() => line.turn.release())
    } finally {
      line.users -= 1
      if (line.users === 0) this.#lines.delete(tenantId)
    }
  }
}

import type { TenantId } from '../kernel/ids.ts'
import { isOnlyLate } from '../platform/db/errors.ts'

/** A call that is over, in the order in which they are listed: by its instant, and by its id among those of one instant. */
type EndedCall = { tenant_id: TenantId; attempted_at: Date; call_log_id: string }

/** A tenant's call. */
export type OneCall = { tenantId: TenantId; callSid: string }

type Going<Ended> = {
  /** The oldest first, over all tenants, after one of them. */
  list(page: { limit: number; after: Ended | null }): Promise<Ended[]>
  takeNote(ended: Ended): Promise<void>
  /** What one was not taken note of for: it holds up no other one, and comes again. */
  failed(ended: Ended, err: unknown): void
  isStopping(): boolean
}

const BATCH_ROWS = 100

/**
 * Goes through calls that are over and of which note is to be taken, again and again. A tenant of whose rows others hold one is waited
 * for once in a look, so that no other tenant waits for it for long; and the next look begins behind that one, so that one which stays
 * held does not hold up the tenant's others.
 */
export class EndedCalls<Ended extends EndedCall> {
  readonly #going: Going<Ended>
  /** What the last look waited for in vain, of each tenant. */
  #held = new Map<TenantId, Ended>()

  constructor(going: Going<Ended>) {
    this.#going = going
  }

  /** Rejects when nobody can be asked. */
  async look(): Promise<void> {
    const { list, takeNote, failed, isStopping } = this.#going
    const before = this.#held
    const held = new Map<TenantId, Ended>()
    this.#held = held
    let after: Ended | null = null
    do {
      const page: Ended[] = await list({ limit: BATCH_ROWS, after })
      for (const ended of page) {
        if (held.has(ended.tenant_id) || !isBehind(ended, before.get(ended.tenant_id))) continue
        await takeNote(ended).catch((err: unknown) => {
          if (isOnlyLate(err)) held.set(ended.tenant_id, ended)
          failed(ended, err)
        })
      }
      after = page.length < BATCH_ROWS ? null : (page.at(-1) ?? null)
    } while (after && !isStopping())
  }
}

function isBehind(ended: EndedCall, other: EndedCall | undefined): boolean {
  if (!other) return true
  const laterMs = ended.attempted_at.getTime() - other.attempted_at.getTime()
  return laterMs > 0 || (laterMs === 0 && ended.call_log_id > other.call_log_id)
}

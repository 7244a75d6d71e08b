import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isDatabaseTrouble } from '../database-trouble.ts'
import { type HeldCompletion, listHeldCompletionsAcrossTenants } from '../voice-session-store.ts'
import { tellHeldCompletion } from './keep-extraction.ts'

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

/** So long the end of a session waits for its extraction: longer than one whose process was lost waits to be looked at. */
const HELD_MS = 600_000
/** Who has not seen the database for so long could not have anything extracted. */
const AWAY_MS = 120_000
/** With one look: who waits to be scored waits behind them. */
const AT_A_TIME = 100

/**
 * Tells the ends of sessions whose extraction takes too long: it is in the API when it comes. Whoever does the same at the same
 * time, each is told once. After a time in which the database was away, and after a start, they have all of their time again, for
 * nothing could be extracted meanwhile.
 */
export class LateCompletions {
  readonly #deps: Deps
  #seenAtMs = Number.NEGATIVE_INFINITY
  #backSinceMs = 0
  /** The last one of the latest look, if there may be others behind it: those that could not be told hold up none of them. */
  #after: HeldCompletion | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Tells some of them, the next ones each time; to be asked again and again. @throws the database's error when it does not answer. */
  async tell(stopping?: AbortSignal): Promise<void> {
    const { db, clock } = this.#deps
    const before = new Date(clock.now() - HELD_MS)
    const held = await listHeldCompletionsAcrossTenants(db, { before, after: this.#after, limit: AT_A_TIME })
    this.#after = null
    if (!this.#hadTheirTime()) return
    for (const one of held) {
      if (stopping?.aborted) return
      await this.#tellOne(one)
    }
    if (held.length === AT_A_TIME) this.#after = held.at(-1) ?? null
  }

  /** The database, which has just answered, has been there for all of the time that a session may be held. */
  #hadTheirTime(): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs - this.#seenAtMs > AWAY_MS) this.#backSinceMs = nowMs
    this.#seenAtMs = nowMs
    return nowMs - this.#backSinceMs >= HELD_MS
  }

  async #tellOne({ tenant_id, call_sid }: HeldCompletion): Promise<void> {
    try {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const tenant = await this.#deps.tenants.get(tenant_id)
      if (!tenant) return
      const of = { tenant, callSid: call_sid, now: new Date(this.#deps.clock.now()) }
      await this.#deps.db.transaction().execute((tx) => tellHeldCompletion(tx, of))
    } catch (err) {
      if (isDatabaseTrouble(err)) throw err
      // What is wrong with one of them holds up no other, nor those that wait to be scored.
      this.#deps.log.error({ tenant_id, call_sid, err }, 'the end of a session could not be told')
    }
  }
}

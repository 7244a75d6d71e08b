import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isDatabaseTrouble } from '../database-trouble.ts'
import { listHeldCompletionsAcrossTenants } from '../voice-session-store.ts'
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
const AT_A_TIME = 20

/**
 * Tells the ends of sessions whose extraction takes too long: it is in the API when it comes. Whoever does the same at the same
 * time, each is told once. After a time in which the database was away, and after a start, they have all of their time again, for
 * nothing could be extracted meanwhile.
 */
export class LateCompletions {
  readonly #deps: Deps
  #seenAtMs = Number.NEGATIVE_INFINITY
  #backSinceMs = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** To be asked again and again. @throws the database's error when it does not answer. */
  async tell(): Promise<void> {
    const { db, clock } = this.#deps
    const held = await listHeldCompletionsAcrossTenants(db, new Date(clock.now() - HELD_MS), AT_A_TIME)
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#seenAtMs > AWAY_MS) this.#backSinceMs = nowMs
    this.#seenAtMs = nowMs
    if (nowMs - this.#backSinceMs < HELD_MS) return
    for (const { tenant_id, call_sid } of held) await this.#tellOne(tenant_id, call_sid)
  }

  async #tellOne(tenantId: TenantId, callSid: string): Promise<void> {
    const { db, clock, log, tenants } = this.#deps
    // Asked before the transaction: the embedded database has one connection, which that owns.
    const tenant = await tenants.get(tenantId)
    if (!tenant) return
    const now = new Date(clock.now())
    const telling = db.transaction().execute((tx) => tellHeldCompletion(tx, { tenant, callSid, now }))
    await telling.catch((err: unknown) => {
      if (isDatabaseTrouble(err)) throw err
      // What is wrong with one of them holds up no other, nor those that wait to be scored.
      log.error({ tenant_id: tenantId, call_sid: callSid, err }, 'the end of a session could not be told')
    })
  }
}

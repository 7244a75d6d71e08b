import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { againWhenRefused } from '../../platform/db/again.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { ErasingTenants } from '../../tenancy/tenant-removal.ts'
import {
  isMarkedDeleted,
  listMarkedDeletedAcrossTenants,
  lockTenant,
  removeTenant,
} from '../../tenancy/tenant-store.ts'
import { deletePage, GROWING_TABLES, SESSIONS } from './erase-tenant-store.ts'
import { endOfPage, type KeyedTable } from './key-page-store.ts'

/** What takes longer than an answer waits, and what was cut off, is gone on with by a sweep on any node. */
export type SweepingTenants = ErasingTenants & {
  /** Goes on with all tenants of which something is left. @returns of how many nothing is left now. */
  sweep(): Promise<number>
}

type Deps = {
  db: Db
  clock: Pick<Clock, 'now' | 'monotonicMs'>
  log: Pick<Log, 'info' | 'error'>
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** Deleted in one transaction: some hundredths of a second, so that calls find the embedded database free between two. */
const ROWS_AT_A_TIME = 1_000
/** A page is begun within this of a deletion that somebody waits for. */
const ANSWER_WITHIN_MS = 5_000

/**
 * Deletes tenants table by table, in each by its keys: no statement takes longer, and no transaction holds more, the bigger the tenant is.
 * Nothing notes how far it has come: whoever goes on finds what is left. Of several at once each goes on behind the others.
 */
export function makeErasingTenants({ db, clock, log, isStopping }: Deps): SweepingTenants {
  /** @returns null when the tenant is gone: somebody else has come to the end, and a new one may have its id. */
  function whileLeft<T>(tenantId: TenantId, work: (tx: Tx) => Promise<T>): Promise<T | null> {
    const locked = async (tx: Tx) => {
      await lockTenant(tx, tenantId)
      return (await isMarkedDeleted(tx, tenantId)) ? work(tx) : null
    }
    return againWhenRefused(() => db.transaction().execute(locked))
  }

  /** @returns whether the table is empty; false when it was left for later. */
  async function empty(tenantId: TenantId, of: KeyedTable, untilMs: number): Promise<boolean> {
    for (let after: string[] | null = null; ; ) {
      if (isStopping() || clock.monotonicMs() >= untilMs) return false
      const until: string[] | null = await whileLeft(tenantId, async (tx) => {
        const end = await endOfPage(tx, tenantId, of, { after, limit: ROWS_AT_A_TIME })
        if (end) await deletePage(tx, tenantId, of, { after, until: end, at: new Date(clock.now()) })
        return end
      })
      if (until === null) return true
      after = until
    }
  }

  /** With what the release before this one has added meanwhile, as a call that was about to begin. */
  async function removeRest(tx: Tx, tenantId: TenantId): Promise<void> {
    const end = await endOfPage(tx, tenantId, SESSIONS, { after: null, limit: ROWS_AT_A_TIME })
    if (end) await deletePage(tx, tenantId, SESSIONS, { after: null, until: end, at: new Date(clock.now()) })
    await removeTenant(tx, tenantId)
  }

  /** @returns whether nothing is left. Never rejects. */
  async function erase(tenantId: TenantId, untilMs: number): Promise<boolean> {
    try {
      for (const table of GROWING_TABLES) if (!(await empty(tenantId, table, untilMs))) return false
      await whileLeft(tenantId, (tx) => removeRest(tx, tenantId))
      log.info({ tenant_id: tenantId }, 'nothing is left of a deleted tenant')
      return true
    } catch (err) {
      log.error({ err, tenant_id: tenantId }, 'what is left of a deleted tenant was not deleted: it is gone on with')
      return false
    }
  }

  return {
    async goOn(tenantId) {
      await erase(tenantId, clock.monotonicMs() + ANSWER_WITHIN_MS)
    },
    async sweep() {
      let gone = 0
      for (const tenantId of await listMarkedDeletedAcrossTenants(db)) {
        if (await erase(tenantId, Number.POSITIVE_INFINITY)) gone += 1
      }
      return gone
    },
  }
}

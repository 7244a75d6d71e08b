import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { JsonPage } from '../platform/db/json-page.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { type DeliveryFilter, listDeliveries, requeue } from './delivery-store.ts'

/** What is redelivered: these, or those that a filter finds. */
export type Redelivery = { ids: string[] } | DeliveryFilter

/** What tenants were told, and are to be told. */
export type Deliveries = {
  /** Newest first; fewer than asked for where bodies are long. */
  list(tenantId: TenantId, filter: DeliveryFilter, page: PageRequest): Promise<JsonPage>
  /**
   * Sends again, at once: the same id, the same body, the attempts counted on. Ids that are not the tenant's are ignored.
   *
   * @param by the administrator who asks; null: the tenant itself, whose doings are not told.
   * @returns how many there are, 10,000 at most: the oldest of what a filter finds.
   */
  redeliver(tenantId: TenantId, which: Redelivery, by: Actor | null): Promise<number>
}

const MAX_REDELIVERIES = 10_000

export function makeDeliveries({ db, clock }: { db: Db; clock: Clock }): Deliveries {
  return {
    list: (tenantId, filter, page) => listDeliveries(db, tenantId, filter, page),
    redeliver(tenantId, asked, by) {
      const which = 'ids' in asked ? { ids: asked.ids.filter(isUuid) } : asked
      const now = new Date(clock.now())
      return db.transaction().execute(async (tx) => {
        const requeued = await requeue(tx, tenantId, { which, now, limitRows: MAX_REDELIVERIES })
        const told = { after: { which, requeued }, at: now }
        if (by) await audit(tx, { by, action: 'webhook.redelivered', tenantId, targetId: null, ...told })
        return requeued
      })
    },
  }
}

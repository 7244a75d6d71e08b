import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { JsonPage } from '../platform/db/json-page.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import {
  listOutboxAcrossTenants,
  type OperatorOutbox,
  type OutboxFilter,
  requeueAcrossTenants,
} from './delivery-store.ts'

/** What billing and people were told, and are to be told, over all tenants. */
export type OperatorOutboxes = {
  /** Newest first; fewer than asked for where bodies are long. */
  list(table: OperatorOutbox, filter: OutboxFilter, page: PageRequest): Promise<JsonPage>
  /**
   * Sends again, at once: the same id, the same body, the attempts counted on.
   *
   * @returns how many there are, 10,000 at most: the oldest of what the filter finds.
   */
  redeliver(table: OperatorOutbox, filter: OutboxFilter, by: Actor): Promise<number>
}

const MAX_REDELIVERIES = 10_000
const ACTIONS: Record<OperatorOutbox, string> = {
  billing_outbox: 'billing.redelivered',
  notification_outbox: 'notification.redelivered',
}

export function makeOperatorOutboxes({ db, clock }: { db: Db; clock: Clock }): OperatorOutboxes {
  return {
    list: (table, filter, page) => listOutboxAcrossTenants(db, table, filter, page),
    redeliver(table, { ids, ...filter }, by) {
      const which = { ...filter, ids: ids?.filter(isUuid) }
      const now = new Date(clock.now())
      return db.transaction().execute(async (tx) => {
        const requeued = await requeueAcrossTenants(tx, table, { which, now, limitRows: MAX_REDELIVERIES })
        const told = { after: { which, requeued }, at: now }
        await audit(tx, { by, action: ACTIONS[table], tenantId: null, targetId: null, ...told })
        return requeued
      })
    },
  }
}

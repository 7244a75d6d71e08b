import { type Expression, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { noteForCommit } from '../platform/db/commits.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { LoggedAttempt } from './attempt.ts'
import type { EventEnvelope, OutboxStatus } from './outbox-store.ts'

/** A row of the webhook's outbox as it is shown. */
export type DeliveryRow = {
  id: string
  event: string
  url: string | null
  status: OutboxStatus
  attempts: number
  due_at: Date
  last_status_code: number | null
  last_error: string | null
  delivered_at: Date | null
  created_at: Date
  attempt_log: LoggedAttempt[]
  body: EventEnvelope
}

/** What deliveries can be looked for by. What is undefined is not asked. */
export type DeliveryFilter = {
  event?: EventName | undefined
  status?: OutboxStatus | undefined
  callSid?: string | undefined
  /** When it happened. Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

function conditions({ event, status, callSid, from, to }: DeliveryFilter): Expression<SqlBool>[] {
  return [
    ...(event ? [sql<SqlBool>`event = ${event}`] : []),
    ...(status ? [sql<SqlBool>`status = ${status}`] : []),
    ...(callSid ? [sql<SqlBool>`call_sid = ${callSid}`] : []),
    ...(from ? [sql<SqlBool>`created_at >= ${from}`] : []),
    ...(to ? [sql<SqlBool>`created_at < ${to}`] : []),
  ]
}

/** The tenant's deliveries, newest first; one more than `limit`, to tell whether there are more. */
export function listDeliveries(
  db: Db,
  tenantId: TenantId,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<DeliveryRow[]> {
  return db
    .selectFrom('webhook_outbox')
    .select(['id', 'event', 'url', 'status', 'attempts', 'due_at', 'last_status_code', 'last_error'])
    .select(['delivered_at', 'created_at', 'attempt_log', 'body'])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.and(conditions(filter)))
    .$call(newestFirst('webhook_outbox', page))
    .execute()
}

type Requeue = { which: { ids: string[] } | DeliveryFilter; now: Date; limitRows: number }

/**
 * Makes deliveries of the tenant due again, under the same id and with a whole new schedule. One that is being sent at this
 * moment is left alone, and not counted.
 *
 * @param which ids (UUIDs), or a filter.
 * @returns how many there were.
 */
export async function requeue(tx: Tx, tenantId: TenantId, { which, now, limitRows }: Requeue): Promise<number> {
  const wanted = 'ids' in which ? [sql<SqlBool>`id = any (${which.ids}::uuid[])`] : conditions(which)
  const { numAffectedRows = 0n } = await sql`
    update webhook_outbox row
       set status = 'pending', due_at = ${now}, attempts_before = attempts, delivered_at = null, claim_token = null,
           leased_until = null
      from (select id from webhook_outbox
             where tenant_id = ${tenantId} and ${sql.join(wanted, sql` and `)}
               and (leased_until is null or leased_until <= now())
             order by created_at, id limit ${limitRows} for update skip locked) picked
     where row.tenant_id = ${tenantId} and row.id = picked.id`.execute(tx)
  noteForCommit(tx, 'webhook_outbox', tenantId)
  return Number(numAffectedRows)
}

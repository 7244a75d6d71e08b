import { type Expression, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { noteForCommit } from '../platform/db/commits.ts'
import { isoInstant, type JsonPage, readJsonPage } from '../platform/db/json-page.ts'
import { isAfter } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { OutboxStatus } from './outbox-store.ts'

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

/** A page of the tenant's deliveries, newest first, as the API shows them; shorter than asked for where bodies are long. */
export function listDeliveries(
  db: Db,
  tenantId: TenantId,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<JsonPage> {
  const where = [sql`tenant_id = ${tenantId}`, ...conditions(filter), isAfter('webhook_outbox', page.after)]
  const list = { table: 'webhook_outbox', where: sql.join(where, sql` and `), shown: SHOWN, long: ['body'] }
  return readJsonPage(db, list, page)
}

const AS_STORED = ['id', 'event', 'status', 'attempts', 'last_status_code', 'last_error', 'body']
const SHOWN = {
  ...Object.fromEntries(AS_STORED.map((column) => [column, sql.ref(column)])),
  // As `withoutQuery` does.
  url: sql`regexp_replace(url, '[?#].*$', '?***')`,
  next_attempt_at: sql`case when status = 'pending' then ${isoInstant('due_at')} end`,
  delivered_at: isoInstant('delivered_at'),
  created_at: isoInstant('created_at'),
  attempt_log: sql`coalesce((select jsonb_agg(attempt - 'attempt' order by n)
                               from jsonb_array_elements(attempt_log) with ordinality as logged (attempt, n)), '[]')`,
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

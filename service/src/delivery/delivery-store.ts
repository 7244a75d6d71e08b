import { type Expression, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { noteForCommit } from '../platform/db/commits.ts'
import { isoInstant, type JsonPage, readJsonPage } from '../platform/db/json-page.ts'
import { isAfter } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { OutboxStatus, OutboxTable } from './outbox-store.ts'

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

/** The outboxes that are nobody's but the operator's. */
export type OperatorOutbox = Exclude<OutboxTable, 'webhook_outbox'>

/** What an operator's outbox can be looked through by. */
export type OutboxFilter = {
  status: OutboxStatus
  ids?: string[] | undefined
  from?: Date | undefined
  to?: Date | undefined
}

function ofOutbox({ status, ids, from, to }: OutboxFilter): Expression<SqlBool>[] {
  return [...conditions({ status, from, to }), ...(ids ? [sql<SqlBool>`id = any (${ids}::uuid[])`] : [])]
}

/** A page of an operator's outbox, newest first; of a mail not what stands in it, which may let somebody in. */
export function listOutboxAcrossTenants(
  db: Db,
  table: OperatorOutbox,
  filter: OutboxFilter,
  page: PageRequest,
): Promise<JsonPage> {
  const where = sql.join([...ofOutbox(filter), isAfter(table, page.after)], sql` and `)
  const isMail = table === 'notification_outbox'
  const body = isMail ? sql`json_build_object('subject', body ->> 'subject', 'to', body ->> 'to')` : sql.ref('body')
  // What is of no tenant has an empty name.
  const shown = { tenant_id: sql`nullif(tenant_id, '')`, ...SHOWN, body }
  return readJsonPage(db, { table, where, shown, long: ['body'] }, page)
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

type Requeue<Which> = { which: Which; now: Date; limitRows: number }

/**
 * Makes deliveries of the tenant due again, under the same id and with a whole new schedule. One that is being sent at this
 * moment is left alone, and not counted.
 *
 * @param which ids (UUIDs), or a filter.
 * @returns how many there were.
 */
export function requeue(
  tx: Tx,
  tenantId: TenantId,
  { which, ...rest }: Requeue<{ ids: string[] } | DeliveryFilter>,
): Promise<number> {
  const wanted = 'ids' in which ? [sql<SqlBool>`id = any (${which.ids}::uuid[])`] : conditions(which)
  return makeDue(tx, 'webhook_outbox', { which: [sql<SqlBool>`tenant_id = ${tenantId}`, ...wanted], ...rest })
}

/** The same for an operator's outbox. */
export function requeueAcrossTenants(
  tx: Tx,
  table: OperatorOutbox,
  { which, ...rest }: Requeue<OutboxFilter>,
): Promise<number> {
  return makeDue(tx, table, { which: ofOutbox(which), ...rest })
}

async function makeDue(
  tx: Tx,
  table: OutboxTable,
  { which, now, limitRows }: Requeue<Expression<SqlBool>[]>,
): Promise<number> {
  const outbox = sql.table(table)
  const { rows } = await sql<{ tenant_id: string }>`
    update ${outbox} row
       set status = 'pending', due_at = ${now}, attempts_before = attempts, delivered_at = null, claim_token = null,
           leased_until = null
      from (select tenant_id, id from ${outbox}
             where ${sql.join(which, sql` and `)} and (leased_until is null or leased_until <= now())
             order by created_at, id limit ${limitRows} for update skip locked) picked
     where row.tenant_id = picked.tenant_id and row.id = picked.id
    returning row.tenant_id`.execute(tx)
  for (const { tenant_id } of rows) noteForCommit(tx, table, tenant_id)
  return rows.length
}

import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { SessionId } from '../../records/call-values.ts'
import type { NumberCounts } from './number-erasure-store.ts'
import { ERASED } from './number-mention.ts'

/** What is the number's own: of one tenant, written down until `until`. At most `limit` rows of it at a time. */
export type NumberSubject = { phone: PhoneNumber; until: Date; limit: number }

/** An inbound number is kept as its carrier has written it. */
function spellings(phone: PhoneNumber): string[] {
  return [phone, phone.slice(1)]
}

/** Whether a call of the number is not over, as far as is known. */
export async function hasLiveCall(tx: Tx, tenantId: TenantId, phone: PhoneNumber): Promise<boolean> {
  const numbers = spellings(phone)
  const { rows } = await sql`
    select 1 from call_logs
     where tenant_id = ${tenantId} and status in ('queued', 'initiated', 'ringing', 'in-progress')
       and ("from" = any(${numbers}) or "to" = any(${numbers}))
    union all
    select 1 from voice_sessions
     where tenant_id = ${tenantId} and ended_at is null and started_at is not null
       and ("from" = any(${numbers}) or "to" = any(${numbers}))
    limit 1`.execute(tx)
  return rows.length > 0
}

/** The sessions of the number's calls after one of them, in the order of their ids. */
export async function listSessionsOf(
  db: Db,
  tenantId: TenantId,
  { phone, until, limit }: NumberSubject,
  after: SessionId | null,
): Promise<SessionId[]> {
  const numbers = spellings(phone)
  const { rows } = await sql<{ id: SessionId }>`
    select id from voice_sessions
     where tenant_id = ${tenantId} and created_at <= ${until}
       and ("from" = any(${numbers}) or "to" = any(${numbers}))
       and (${after}::uuid is null or id > ${after}::uuid)
     order by id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Takes the number out of the logs of its calls that are over, with what else was written about them: the log stays with its times,
 * its status and what it cost.
 */
export async function eraseCallLogs(tx: Tx, tenantId: TenantId, subject: NumberSubject): Promise<NumberCounts> {
  const numbers = spellings(subject.phone)
  const { rows } = await sql<{ id: string; call_sid: string | null }>`
    update call_logs log
       set "from" = case when "from" = any(${numbers}) then ${ERASED} else "from" end,
           "to" = case when "to" = any(${numbers}) then ${ERASED} else "to" end,
           summary = null, metadata = '{}'::jsonb, error_message = null
     where tenant_id = ${tenantId} and id in (
             select id from call_logs
              where tenant_id = ${tenantId} and created_at <= ${subject.until}
                and status not in ('queued', 'initiated', 'ringing', 'in-progress')
                and ("from" = any(${numbers}) or "to" = any(${numbers}))
              order by id limit ${subject.limit} for update)
    returning id, call_sid`.execute(tx)
  if (rows.length === 0) return {}
  const ids = rows.map(({ id }) => id)
  const callSids = rows.flatMap(({ call_sid }) => call_sid ?? [])
  const keys = await sql`
    delete from idempotency_keys using dials
     where dials.tenant_id = ${tenantId} and dials.call_log_id = any(${ids}::uuid[])
       and idempotency_keys.tenant_id = dials.tenant_id and idempotency_keys.dial_ref = dials.dial_ref
    returning key`.execute(tx)
  await sql`update dials set greeting = null
             where tenant_id = ${tenantId} and call_log_id = any(${ids}::uuid[]) and greeting is not null`.execute(tx)
  const actions = await sql`
    update supervisor_actions set reason = null, note = null, metadata = '{}'::jsonb
     where tenant_id = ${tenantId} and call_sid = any(${callSids})
       and (reason is not null or note is not null or metadata <> '{}'::jsonb)
    returning id`.execute(tx)
  const deliveries = await sql`
    delete from webhook_outbox where tenant_id = ${tenantId} and call_sid = any(${callSids}) returning id`.execute(tx)
  return {
    call_logs: rows.length,
    idempotency_keys: keys.rows.length,
    supervisor_actions: actions.rows.length,
    deliveries: deliveries.rows.length,
  }
}

/** Deletes the tasks to call the number, with their history and what was to be told of them. */
export async function eraseTasks(tx: Tx, tenantId: TenantId, subject: NumberSubject): Promise<NumberCounts> {
  const { rows } = await sql<{ id: string }>`
    delete from callback_tasks where tenant_id = ${tenantId} and id in (
      select id from callback_tasks
       where tenant_id = ${tenantId} and created_at <= ${subject.until} and customer_phone = ${subject.phone}
       order by id limit ${subject.limit} for update)
    returning id`.execute(tx)
  if (rows.length === 0) return {}
  const ids = rows.map(({ id }) => id)
  const deliveries = await sql`
    delete from webhook_outbox
     where tenant_id = ${tenantId} and body #>> '{payload,task,id}' = any(${ids}) returning id`.execute(tx)
  return { callback_tasks: rows.length, deliveries: deliveries.rows.length }
}

/** Takes the number out of the lists of campaigns. */
export async function eraseContacts(tx: Tx, tenantId: TenantId, subject: NumberSubject): Promise<NumberCounts> {
  const { rows } = await sql`
    delete from campaign_contacts where tenant_id = ${tenantId} and id in (
      select id from campaign_contacts
       where tenant_id = ${tenantId} and created_at <= ${subject.until} and phone = ${subject.phone}
       order by id limit ${subject.limit} for update)
    returning id`.execute(tx)
  return rows.length === 0 ? {} : { campaign_contacts: rows.length }
}

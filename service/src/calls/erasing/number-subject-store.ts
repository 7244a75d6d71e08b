import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import type { SessionId } from '../../records/call-values.ts'
import { isLive } from '../../records/live-call-store.ts'
import type { CampaignRow } from '../campaigns/campaign-store.ts'
import { TELLS_OF_TASK } from './erase-store.ts'
import { isInPage, type KeyedTable, type KeyPage } from './key-page-store.ts'
import type { NumberCounts } from './number-erasure-store.ts'
import { ERASED } from './number-mention.ts'

/**
 * What is the number's own: of one tenant, written down until `until`, which is later than `askedAt`, because other nodes' clocks may be
 * ahead of the one that was asked. `spellings`: as it may stand where it was given to us.
 */
export type NumberSubject = { spellings: string[]; wholePattern: string; askedAt: Date; until: Date }

/** By their keys the tables are gone through that have what is the number's own. */
export const SUBJECT_TABLES = {
  sessions: { table: 'voice_sessions', key: ['id'] },
  callLogs: { table: 'call_logs', key: ['id'] },
  tasks: { table: 'callback_tasks', key: ['id'] },
  contacts: { table: 'campaign_contacts', key: ['id'] },
} as const satisfies Record<string, KeyedTable>

/** Whether a call is the number's: who called whom is kept as the carrier has written it, `tel:` and `sip:` too. */
function isOf(wholePattern: string) {
  return sql<boolean>`("from" ~ ${wholePattern} or "to" ~ ${wholePattern})`
}

/** How a row names the call that it belongs to: by which column of that one's log, and where it has the same. */
export type CallOfRow = { by: 'id' | 'call_sid' | 'voice_session_id'; is: RawBuilder<unknown> }

/** Those of which more than one place knows. */
export const CALL_OF = {
  task: { by: 'call_sid', is: sql`call_sid` },
  contact: { by: 'id', is: sql`last_call_log_id` },
} satisfies Record<string, CallOfRow>

/** Of what call a row is, if of any. `isUndated`: nobody noted when it was written. */
export type Dated = { call?: CallOfRow; isUndated?: boolean }

/**
 * Whether a row was written by `until`. One that may be later than the request is left alone while it belongs to a call that is not over
 * and began after it: nobody waits for that one.
 */
export function isInTime(
  tenantId: TenantId,
  { askedAt, until }: Pick<NumberSubject, 'askedAt' | 'until'>,
  { call, isUndated = false }: Dated,
): RawBuilder<boolean> {
  const isLeft = call
    ? sql`(${call.is} in (select call.${sql.ref(call.by)} from call_logs call
                           where call.tenant_id = ${tenantId} and call.created_at > ${askedAt} and call.${isLive})) is true`
    : sql`false`
  if (isUndated) return sql<boolean>`not (${isLeft})`
  return sql<boolean>`created_at <= ${until} and (created_at <= ${askedAt} or not (${isLeft}))`
}

/** Whether a call of the number is not over, as far as is known. */
export async function hasLiveCall(
  tx: Tx,
  tenantId: TenantId,
  { wholePattern }: Pick<NumberSubject, 'wholePattern'>,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from call_logs
     where tenant_id = ${tenantId} and ${isLive} and ${isOf(wholePattern)}
    union all
    select 1 from voice_sessions
     where tenant_id = ${tenantId} and ended_at is null and started_at is not null and ${isOf(wholePattern)}
    limit 1`.execute(tx)
  return rows.length > 0
}

/**
 * The sessions of the number's calls in a page of all sessions, in the order of their ids. One that may be of a later call is only one of
 * them if it is over: the request does not wait for it.
 */
export async function listSessionsOf(
  tx: Tx,
  tenantId: TenantId,
  { wholePattern, askedAt, until }: NumberSubject,
  page: KeyPage,
): Promise<SessionId[]> {
  const { rows } = await sql<{ id: SessionId }>`
    select id from voice_sessions
     where tenant_id = ${tenantId} and ${isInPage(SUBJECT_TABLES.sessions, page)} and created_at <= ${until}
       and (created_at <= ${askedAt} or ended_at is not null) and ${isOf(wholePattern)}
     order by id`.execute(tx)
  return rows.map(({ id }) => id)
}

/**
 * Takes the number out of the logs of its calls that are over, with what else was written about them: the log stays with its times,
 * its status and what it cost.
 */
export async function eraseCallLogs(
  tx: Tx,
  tenantId: TenantId,
  { wholePattern, until }: NumberSubject,
  page: KeyPage,
): Promise<NumberCounts> {
  const { rows } = await sql<{ id: string; call_sid: string | null }>`
    update call_logs
       set "from" = case when "from" ~ ${wholePattern} then ${ERASED} else "from" end,
           "to" = case when "to" ~ ${wholePattern} then ${ERASED} else "to" end,
           summary = null, metadata = '{}'::jsonb, error_message = null
     where tenant_id = ${tenantId} and ${isInPage(SUBJECT_TABLES.callLogs, page)} and created_at <= ${until}
       and not ${isLive} and ${isOf(wholePattern)}
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

/** Deletes the tasks to call the number, with their history, the keys of their requests, and what was to be told of them. */
export async function eraseTasks(
  tx: Tx,
  tenantId: TenantId,
  { spellings, ...times }: NumberSubject,
  page: KeyPage,
): Promise<NumberCounts> {
  const { rows } = await sql<{ id: string; keys: number }>`
    delete from callback_tasks as task
     where tenant_id = ${tenantId} and ${isInPage(SUBJECT_TABLES.tasks, page)} and ${isInTime(tenantId, times, { call: CALL_OF.task })}
       and customer_phone = any(${spellings})
    returning id, (select count(*)::int from callback_task_keys key
                    where key.tenant_id = task.tenant_id and key.task_id = task.id) as keys`.execute(tx)
  if (rows.length === 0) return {}
  const ids = rows.map(({ id }) => id)
  const deliveries = await sql`
    delete from webhook_outbox
     where tenant_id = ${tenantId} and ${TELLS_OF_TASK} and body #>> '{payload,task,id}' = any(${ids})
    returning id`.execute(tx)
  const keys = rows.reduce((sum, row) => sum + row.keys, 0)
  return { callback_tasks: rows.length, idempotency_keys: keys, deliveries: deliveries.rows.length }
}

/**
 * The campaigns that have the number in a page of their contacts, but for drafts, kept from changing until the transaction ends: to be asked
 * before any contact is held, as whoever calls those does.
 */
export async function lockCampaignsWith(
  tx: Tx,
  tenantId: TenantId,
  { spellings }: NumberSubject,
  page: KeyPage,
): Promise<CampaignRow[]> {
  const { rows } = await sql<CampaignRow>`
    select * from campaigns
     where tenant_id = ${tenantId} and status <> 'draft'
       and id in (select campaign_id from campaign_contacts
                   where tenant_id = ${tenantId} and ${isInPage(SUBJECT_TABLES.contacts, page)} and phone = any(${spellings}))
     order by id
       for update`.execute(tx)
  return rows
}

/** Takes the number out of the lists of campaigns. */
export async function eraseContacts(
  tx: Tx,
  tenantId: TenantId,
  { spellings, ...times }: NumberSubject,
  page: KeyPage,
): Promise<NumberCounts> {
  const { rows } = await sql`
    delete from campaign_contacts
     where tenant_id = ${tenantId} and ${isInPage(SUBJECT_TABLES.contacts, page)} and ${isInTime(tenantId, times, { call: CALL_OF.contact })}
       and phone = any(${spellings})
    returning id`.execute(tx)
  return rows.length === 0 ? {} : { campaign_contacts: rows.length }
}

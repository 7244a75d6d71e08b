import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { isInPage, type KeyedTable, type KeyPage } from './key-page-store.ts'

/** With their rows go files and what else knows of them: see `deletePage`. */
export const SESSIONS: KeyedTable = { table: 'voice_sessions', key: ['id'] }

/**
 * The tables of a tenant that may have many rows, in the order in which they are emptied: first what is worked on by sweeps, then what
 * refers to others, so that a row takes few others along. A key needs not be one row's.
 */
export const GROWING_TABLES: KeyedTable[] = [
  { table: 'operator_queues', key: ['queue_key'] },
  { table: 'callback_task_follow_ups', key: ['task_id'] },
  { table: 'callback_task_tickets', key: ['task_id'] },
  { table: 'callback_task_dispatches', key: ['call_log_id'] },
  { table: 'callback_task_changes', key: ['id'] },
  { table: 'callback_task_keys', key: ['key'] },
  { table: 'callback_tasks', key: ['id'] },
  { table: 'campaign_dials', key: ['call_log_id'] },
  { table: 'campaign_contacts', key: ['id'] },
  { table: 'campaign_keys', key: ['key'] },
  { table: 'campaigns', key: ['id'] },
  { table: 'simulation_runs', key: ['id'] },
  { table: 'simulations', key: ['id'] },
  { table: 'number_erasures', key: ['id'] },
  { table: 'webhook_outbox', key: ['id'] },
  { table: 'webhook_sequences', key: ['call_sid'] },
  { table: 'idempotency_keys', key: ['key'] },
  { table: 'dials', key: ['dial_ref'] },
  { table: 'transcript_turns', key: ['session_id', 'item_id'] },
  { table: 'function_calls', key: ['session_id', 'call_id'] },
  { table: 'recordings', key: ['session_id', 'part'] },
  { table: 'evaluations', key: ['id'] },
  { table: 'session_scorings', key: ['session_id'] },
  SESSIONS,
  { table: 'call_logs', key: ['id'] },
  { table: 'call_changes', key: ['starts_at', 'id'] },
  { table: 'call_day_changes', key: ['starts_at', 'id'] },
  { table: 'call_rollups', key: ['minutes', 'is_whole', 'starts_at'] },
  { table: 'call_outcome_rollups', key: ['minutes', 'is_whole', 'starts_at'] },
  { table: 'supervisor_actions', key: ['id'] },
  { table: 'do_not_call', key: ['id'] },
  { table: 'clips', key: ['clip_key'] },
]

/** Deletes the rows of a page, and what goes with sessions. */
export async function deletePage(
  tx: Tx,
  tenantId: TenantId,
  of: KeyedTable,
  page: KeyPage & { at: Date },
): Promise<void> {
  if (of === SESSIONS) await leaveSessions(tx, tenantId, page)
  await sql`delete from ${sql.table(of.table)} where tenant_id = ${tenantId} and ${isInPage(of, page)}`.execute(tx)
}

/** All nodes are to delete the audio that they have of these sessions; and the directory, which has no order of a tenant, forgets the calls. */
async function leaveSessions(tx: Tx, tenantId: TenantId, page: KeyPage & { at: Date }): Promise<void> {
  const isMeant = sql<boolean>`tenant_id = ${tenantId} and ${isInPage({ key: ['id'] }, page)}`
  await sql`
    insert into erased_recordings (tenant_id, session_id, erased_at)
    select tenant_id, id, ${page.at}::timestamptz from voice_sessions where ${isMeant}
    on conflict do nothing`.execute(tx)
  await sql`
    delete from call_directory
     where tenant_id = ${tenantId} and call_sid = any(array(select call_sid from voice_sessions where ${isMeant}))`.execute(
    tx,
  )
}

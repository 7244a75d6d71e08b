import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { forgetOutcomes } from '../../records/analytics/rollup-store.ts'
import { OVER_STATUSES } from '../../records/call-status.ts'
import type { SessionId } from '../../records/call-values.ts'
import { costOfSession } from '../../records/spent-today-store.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    erased_recordings: { tenant_id: TenantId; session_id: SessionId; erased_at: Date }
  }
}

/** How much of each kind was erased. */
export type ErasedCounts = {
  transcriptTurns: number
  functionCalls: number
  recordingParts: number
  callbackTasks: number
  supervisorActions: number
  deliveries: number
}

/** A session to be erased, with the streams and the call by which others name it. */
export type ErasedSession = { id: SessionId; callSid: string }

/**
 * Erases what was said and noted in a session: the session with its turns, tool calls and recording; the words in the log, the
 * tasks and the supervisors' actions of its call; what its call had to be told by webhook. What a campaign knows of its contact goes
 * with it, or, where that is to be called again, once it is called no more. To be called with `lockCall`; the
 * directory has to forget the call in the same transaction, so that nothing late is written of it.
 */
export async function eraseSession(tx: Tx, tenantId: TenantId, session: ErasedSession): Promise<ErasedCounts> {
  const { id, callSid } = session
  const [turns, calls, parts] = [
    await countOf(tx, 'transcript_turns', tenantId, id),
    await countOf(tx, 'function_calls', tenantId, id),
    await countOf(tx, 'recordings', tenantId, id),
  ]
  await tx
    .updateTable('call_logs')
    .set({ summary: null, metadata: {}, voice_session_id: null })
    // The budget of its day goes on counting it.
    .set({ cost_usd: sql`greatest(cost_usd, ${costOfSession(tenantId, id)})` })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .execute()
  await forgetOutcomes(tx, tenantId, callSid)
  await sql`
    update campaign_contacts contact set forget_metadata = true
      from campaign_dials dial, call_logs log
     where log.tenant_id = ${tenantId} and log.call_sid = ${callSid}
       and dial.tenant_id = log.tenant_id and dial.call_log_id = log.id
       and contact.tenant_id = dial.tenant_id and contact.id = dial.contact_id`.execute(tx)
  // By the log: a call that was only found has no name in its dial.
  await sql`
    update dials set greeting = null
      from call_logs log
     where log.tenant_id = ${tenantId} and log.call_sid = ${callSid}
       and dials.tenant_id = log.tenant_id and dials.call_log_id = log.id and dials.greeting is not null`.execute(tx)
  const tasks = await listTasksOf(tx, tenantId, session)
  await eraseTasks(tx, tenantId, tasks)
  const erased = {
    ...{ transcriptTurns: turns, functionCalls: calls, recordingParts: parts },
    callbackTasks: tasks.length,
    supervisorActions: await eraseActions(tx, tenantId, callSid),
    deliveries: await eraseDeliveries(tx, tenantId, callSid, tasks),
  }
  await tx.deleteFrom('voice_sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute()
  return erased
}

async function countOf(
  tx: Tx,
  table: 'transcript_turns' | 'function_calls' | 'recordings',
  tenantId: TenantId,
  id: SessionId,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${sql.table(table)}
     where tenant_id = ${tenantId} and session_id = ${id}`.execute(tx)
  return rows[0]?.count ?? 0
}

/** The tasks of a call: those that name it, and those that name a stream of it alone. */
async function listTasksOf(tx: Tx, tenantId: TenantId, { id, callSid }: ErasedSession): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from callback_tasks where tenant_id = ${tenantId} and call_sid = ${callSid}
    union all
    select id from callback_tasks
     where tenant_id = ${tenantId} and call_sid is null and stream_sid = any(array(
             select stream_sid from call_logs where tenant_id = ${tenantId} and call_sid = ${callSid}
              union
             select stream_sid from voice_sessions where tenant_id = ${tenantId} and id = ${id}))`.execute(tx)
  return rows.map((row) => row.id)
}

/** They stay, so that they can be done; of their metadata what links them to a ticket does, and that the person agreed to be called. */
async function eraseTasks(tx: Tx, tenantId: TenantId, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update callback_tasks
       set summary = null, notes = null, snooze_reason = null,
           metadata = case when metadata ? 'external_ticket'
                           then jsonb_build_object('external_ticket', metadata -> 'external_ticket')
                           else '{}'::jsonb end
                    || case when metadata -> 'consent' = 'true'::jsonb then '{"consent": true}'::jsonb else '{}'::jsonb end
     where tenant_id = ${tenantId} and id = any(${ids}::uuid[])`.execute(tx)
  await sql`
    update callback_task_changes set note = null, details = '{}'::jsonb
     where tenant_id = ${tenantId} and task_id = any(${ids}::uuid[])`.execute(tx)
}

async function eraseActions(tx: Tx, tenantId: TenantId, callSid: string): Promise<number> {
  const { rows } = await sql`
    update supervisor_actions set reason = null, note = null, metadata = '{}'::jsonb
     where tenant_id = ${tenantId} and call_sid = ${callSid}
    returning id`.execute(tx)
  return rows.length
}

/** Events that tell of a task: they have an index by what they tell of, which needs these very words. */
export const TELLS_OF_TASK = sql<boolean>`(event like 'callback.task.%' or event like 'operator_queue.%')`

/** Delivered or not: of what is gone nobody is to be told any more. Events of tasks have no call of their own. */
async function eraseDeliveries(tx: Tx, tenantId: TenantId, callSid: string, taskIds: string[]): Promise<number> {
  const own = await sql`
    delete from webhook_outbox where tenant_id = ${tenantId} and call_sid = ${callSid} returning id`.execute(tx)
  const ofTasks = await sql`
    delete from webhook_outbox
     where tenant_id = ${tenantId} and ${TELLS_OF_TASK}
       and (body #>> '{payload,task,call_sid}' = ${callSid} or body #>> '{payload,task,id}' = any(${taskIds}::text[]))
    returning id`.execute(tx)
  return own.rows.length + ofTasks.rows.length
}

/** Says to all nodes that the audio of a session has to go. Again, it changes nothing. */
export async function noteErasedRecording(tx: Tx, tenantId: TenantId, sessionId: SessionId, at: Date): Promise<void> {
  await tx
    .insertInto('erased_recordings')
    .values({ tenant_id: tenantId, session_id: sessionId, erased_at: at })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id']).doNothing())
    .execute()
}

type ErasedRecording = { tenant_id: TenantId; session_id: SessionId; erased_at: Date }

/** Up to where the notes of erased sessions were read: `id` is the last one's of those of that instant. */
export type ErasedUntil = { at: Date; id: string }

/** The sessions whose files have to go, erased behind `since`, oldest first. */
export function listErasedRecordingsAcrossTenants(
  db: Db,
  since: ErasedUntil,
  limit: number,
): Promise<ErasedRecording[]> {
  return db
    .selectFrom('erased_recordings')
    .selectAll()
    .where(sql<boolean>`(erased_at, session_id) > (${since.at}, ${since.id})`)
    .orderBy('erased_at')
    .orderBy('session_id')
    .limit(limit)
    .execute()
}

/** Forgets what every node has had the time to do. */
export async function forgetErasedRecordingsAcrossTenants(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('erased_recordings').where('erased_at', '<', before).execute()
}

/** Tenants whose document bounds how long sessions are kept, with the days. */
export async function listRetentionsAcrossTenants(db: Db): Promise<{ tenantId: TenantId; days: number }[]> {
  const { rows } = await sql<{ tenant_id: TenantId; days: number }>`
    select tenant_id, (document #>> '{compliance,retention_days}')::integer as days
      from tenants
     where document #>> '{compliance,retention_days}' is not null
     order by tenant_id`.execute(db)
  return rows.map(({ tenant_id, days }) => ({ tenantId: tenant_id, days }))
}

/** A session by its place among the tenant's. */
export type OldSession = { id: SessionId; created_at: Date }

/** Which ones: those that began before an instant, behind one of them; as many. */
type OldSessions = { before: Date; after: OldSession | null; limit: number }

/** The tenant's sessions that are over and began long ago, oldest first. */
export function listOldSessions(
  db: Db,
  tenantId: TenantId,
  { before, after, limit }: OldSessions,
): Promise<OldSession[]> {
  return db
    .selectFrom('voice_sessions')
    .select(['id', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .where('created_at', '<', before)
    .$if(after !== null, (query) => query.where(sql<boolean>`(created_at, id) > (${after?.created_at}, ${after?.id})`))
    .where('call_status', 'in', OVER_STATUSES)
    .where((eb) => eb.or([eb('ended_at', 'is not', null), eb('started_at', 'is', null)]))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
}

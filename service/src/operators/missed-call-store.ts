import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { REJECTED, type SessionId } from '../records/call-values.ts'
import { isLive } from '../records/live-call-store.ts'
import { HAS_BROKEN_OFF, HAS_SPOKEN, LOST_ITS_STREAM } from '../records/session-outcome-store.ts'
import type { MissedCallKind } from '../tenancy/tenant-values.ts'
import type { CallbackTaskId } from './callback-task-store.ts'
import type { TaskDisposition } from './callback-task-values.ts'

/** A call that came in and came to nothing. `from` is as the call log has it. */
export type MissedCall = {
  log_id: string
  call_sid: string
  stream_sid: string | null
  session_id: SessionId
  agent_name: string | null
  from: string
  kind: MissedCallKind
  /** Whether an agent was to talk in it; else its caller may have gone to the fallback number. */
  was_taken: boolean
  ended_at: Date
}

/** Where a page of missed calls ends. */
export type MissedCallPosition = Pick<MissedCall, 'ended_at' | 'log_id'>

/** Which calls: of these kinds, that ended since then, and of those that were not taken before `refusedBefore`, behind one of them; as many. */
export type MissedCallPage = {
  kinds: MissedCallKind[]
  since: Date
  begunAfter: Date
  refusedBefore: Date
  after: MissedCallPosition | null
  limit: number
}

/** How a task is completed by which its customer has had their answer, or has one to come. */
const ANSWERED: TaskDisposition[] = ['reached', 'resolved', 'rescheduled', 'wrong_number', 'do_not_call']
/** Of `ours`, a call log: what a mailbox says is nobody's word. As `isReached`. */
const wasNoMailbox = sql`coalesce(ours.answered_by, '') !~ '^(machine|fax|screening)'`

/** A task that names a call is made when there is one, by the clock of another node perhaps. */
const CLOCKS_APART = '1 hour'

/**
 * The tenant's calls from numbers that came in and came to nothing, of which there is no callback task, whose callers wait for no
 * other one, have had none made or dispatched since, whatever came of it, nor been reached since by an earlier one, nor called again or been called
 * and had a word with us, and may be called, but for those that somebody else has answered in our place, or that the tenant did not
 * want; those that ended first come first. `begunAfter`: no call that was logged before lasts until `since`.
 * Tasks are looked for by call and by phone apart, for which there are indexes: by either, all of them would be read for each call.
 */
export async function listMissedCalls(
  db: Db,
  tenantId: TenantId,
  { kinds, since, begunAfter, refusedBefore, after, limit }: MissedCallPage,
): Promise<MissedCall[]> {
  const behind = after ? sql`(ended_at, log_id) > (${after.ended_at}, ${after.log_id}::uuid)` : sql`true`
  const { rows } = await sql<MissedCall>`
    select missed.*
      from (
        select log.id as log_id, log.call_sid, log.stream_sid, session.id as session_id, log.agent_name, log."from",
               log.created_at, log.ended_at, session.end_reason is distinct from 'rejected' as was_taken,
               case
                 when log.error_code = ${REJECTED} then null
                 when log.status in ('busy', 'no-answer', 'canceled') then 'missed'
                 when log.status = 'failed' or ${LOST_ITS_STREAM} or ${HAS_BROKEN_OFF} then 'failed'
                 when session.end_reason = 'caller_hangup' and not ${HAS_SPOKEN} then 'abandoned'
               end as kind
          from call_logs log
          join voice_sessions session on session.tenant_id = log.tenant_id and session.id = log.voice_session_id
         where log.tenant_id = ${tenantId} and log.direction = 'inbound' and log.created_at > ${begunAfter}
           and log.ended_at >= ${since} and session.ended_at is not null and session.end_reason is distinct from 'transferred'
           and (log.ended_at <= ${refusedBefore} or session.end_reason is distinct from 'rejected')
      ) missed
     where kind = any (${kinds}::text[]) and ${behind} and missed."from" ~ '^[+][1-9][0-9]{6,14}$'
       and not exists (
         select from callback_tasks task
          where task.tenant_id = ${tenantId} and task.call_sid = missed.call_sid
            and task.created_at > ${begunAfter}::timestamptz - interval ${sql.lit(CLOCKS_APART)}
       )
       and not exists (
         select from callback_tasks task
          where task.tenant_id = ${tenantId} and task.customer_phone = missed."from"
            and (
              task.status in ('open', 'claimed', 'snoozed', 'dispatching')
              or task.created_at > missed.ended_at
              or task.last_dispatch_attempted_at >= missed.ended_at
              or (task.status = 'completed' and task.completed_at >= missed.ended_at and task.disposition = any (${ANSWERED}::text[]))
            )
       )
       and not exists (
         select from call_logs later
           left join voice_sessions session on session.tenant_id = later.tenant_id and session.id = later.voice_session_id
          where later.tenant_id = ${tenantId} and later."from" = missed."from" and later.direction = 'inbound'
            and later.created_at > missed.created_at and (${isLive} or ${HAS_SPOKEN})
       )
       and not exists (
         select from call_logs ours
           left join voice_sessions session on session.tenant_id = ours.tenant_id and session.id = ours.voice_session_id
          where ours.tenant_id = ${tenantId} and ours."to" = missed."from" and ours.direction = 'outbound'
            and ours.created_at > ${begunAfter}
            and (${isLive} or (ours.ended_at >= missed.ended_at and ${HAS_SPOKEN} and ${wasNoMailbox}))
       )
       and not exists (
         select from do_not_call listed where listed.tenant_id = ${tenantId} and listed.phone = missed."from"
       )
     order by ended_at, log_id
     limit ${limit}
  `.execute(db)
  return rows
}

/** Whether this transaction is the one that makes a task of the call: of several at once one is, until it ends. */
export async function takeMissedCall(tx: Tx, tenantId: TenantId, { log_id, call_sid }: MissedCall): Promise<boolean> {
  const held = await tx
    .selectFrom('call_logs')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', log_id)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (!held) return false
  // Asked once the row is held: whoever had it before may have made one.
  const task = await tx
    .selectFrom('callback_tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', call_sid)
    .executeTakeFirst()
  return task === undefined
}

/** Who makes tasks of missed calls, as those say. */
export const MISSED_CALL = 'missed call'

/** The task that was made of a call because it was missed; null when there is none. */
export async function findMissedCallTask(tx: Tx, tenantId: TenantId, callSid: string): Promise<CallbackTaskId | null> {
  const task = await tx
    .selectFrom('callback_tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('created_by', '=', MISSED_CALL)
    .executeTakeFirst()
  return task?.id ?? null
}

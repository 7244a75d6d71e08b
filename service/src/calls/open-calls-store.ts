import { sql } from 'kysely'
import type { AgentVersionId, NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { CallDirection, CallStatus, SessionEndReason } from '../records/call-values.ts'

/** A call that somebody has to look after, with what decides what is to be done. */
export type OpenCall = {
  tenantId: TenantId
  callSid: string
  owner: NodeId | null
  epoch: number
  /** How often in a row its carrier could not be asked. */
  tries: number
  direction: CallDirection
  agentVersionId: AgentVersionId | null
  status: CallStatus
  createdAt: Date
  answeredAt: Date | null
  /** The call's end. */
  overAt: Date | null
  /** When its stream began, and when its session ended. */
  begunAt: Date | null
  endedAt: Date | null
  endReason: SessionEndReason | null
  /** Whether it was handed to the fallback number when it lost its model; null where that is not known. */
  isAtFallback: boolean | null
  /** How long it may last, by the agent that it began with; null where that is not known. */
  maxCallSeconds: number | null
}

type Claim = { now: Date; again: Date; limitRows: number }

/** Takes calls that are due to be looked after: until `again` no other node gets them. Returns their ids. */
export async function claimDueAcrossTenants(db: Db, { now, again, limitRows }: Claim): Promise<string[]> {
  const { rows } = await sql<{ call_sid: string }>`
    with due as materialized (
      select call_sid from call_directory
       where look_at <= ${now} order by look_at limit ${limitRows} for update skip locked)
    update call_directory set look_at = ${again}, look_tries = look_tries + 1
      from due where call_directory.call_sid = due.call_sid
    returning call_directory.call_sid`.execute(db)
  return rows.map(({ call_sid }) => call_sid)
}

/** What is known of these calls; those that are not in the directory any more are left out. */
export async function openCallsAcrossTenants(db: Db, callSids: string[]): Promise<OpenCall[]> {
  if (callSids.length === 0) return []
  return db
    .selectFrom('call_directory as entry')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'entry.tenant_id').onRef('log.call_sid', '=', 'entry.call_sid'),
    )
    .innerJoin('voice_sessions as session', (join) =>
      join.onRef('session.tenant_id', '=', 'entry.tenant_id').onRef('session.id', '=', 'entry.session_id'),
    )
    .select(['entry.tenant_id as tenantId', 'entry.call_sid as callSid', 'entry.owner', 'entry.epoch'])
    .select(['entry.is_at_fallback as isAtFallback'])
    .select(['entry.look_tries as tries', 'log.direction', 'log.agent_version_id as agentVersionId', 'log.status'])
    .select(['log.created_at as createdAt', 'log.answered_at as answeredAt', 'log.ended_at as overAt'])
    .select(['session.started_at as begunAt', 'session.ended_at as endedAt', 'session.end_reason as endReason'])
    .select('session.max_call_seconds as maxCallSeconds')
    .where('entry.call_sid', 'in', callSids)
    .execute()
}

/** Says when to look after a call next, unless it has come to its end meanwhile. */
export async function lookAgain(db: Db, tenantId: TenantId, callSid: string, at: Date): Promise<void> {
  await db
    .updateTable('call_directory')
    .set({ look_at: at })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('look_at', 'is not', null)
    .execute()
}

/**
 * Makes the calls due that nobody has and that a carrier can be asked for: those that are older than `afterMs` now, the others as
 * soon as they are.
 */
export async function makeDueAcrossTenants(db: Db, { now, afterMs }: { now: Date; afterMs: number }): Promise<void> {
  await sql`
    update call_directory set look_at = due.at
      from (select entry.call_sid, greatest(${now}::timestamptz, log.created_at + ${afterMs}::int * interval '1 ms') as at
              from call_directory entry
              join call_logs log on log.tenant_id = entry.tenant_id and log.call_sid = entry.call_sid
             where entry.owner is null and entry.rescue_at is null and log.direction <> 'browser'
               and entry.look_at > greatest(${now}::timestamptz, log.created_at + ${afterMs}::int * interval '1 ms')
             order by entry.call_sid for update of entry skip locked) due
     where call_directory.call_sid = due.call_sid`.execute(db)
}

/** Says that carriers could be asked for these calls, which are the next to be asked as usual. */
export async function forgetTriesAcrossTenants(db: Db, callSids: string[]): Promise<void> {
  if (callSids.length === 0) return
  await db
    .updateTable('call_directory')
    .set({ look_tries: 0 })
    .where('call_sid', 'in', callSids)
    .where('look_tries', '>', 0)
    .execute()
}

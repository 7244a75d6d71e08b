import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { SessionId } from './call-values.ts'

/** `begunAfter`: no call that was logged before lasts until `since`. `exceptCallSid`: this call is left out. */
type Day = { since: Date; now: Date; begunAfter: Date; exceptCallSid?: string | undefined }

/**
 * How long the tenant's calls by way of a carrier have lasted since an instant, in seconds: those that are not over until now.
 */
export async function countTalkedSeconds(
  db: Db,
  tenantId: TenantId,
  { since, now, begunAfter, exceptCallSid = '' }: Day,
): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(sum(extract(epoch from least(coalesce(ended_at, ${now}), ${now}) - greatest(answered_at, ${since}))), 0)
             ::double precision as seconds
      from call_logs
     where tenant_id = ${tenantId} and created_at > ${begunAfter} and direction <> 'browser'
       and answered_at < ${now} and coalesce(ended_at, ${now}) > ${since}
       and call_sid is distinct from ${exceptCallSid}
  `.execute(db)
  return rows[0]?.seconds ?? 0
}

/** What sessions have cost; those that are not over by the turns that are stored, and so have those that were lost with their process. */
function costOf(which: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql<number | null>`
    select sum(greatest(session.cost_usd, turns.usd))
      from voice_sessions session
      left join lateral (
        select sum(turn.cost_usd) as usd from transcript_turns turn
         where (session.ended_at is null or session.cost_usd is null or session.end_reason in ('process_lost', 'transferred'))
           and turn.tenant_id = session.tenant_id and turn.session_id = session.id) turns on true
     where ${which}`
}

/** What a session has cost, as a part of a statement: USD to the millionth, null where nothing is known. */
export function costOfSession(tenantId: TenantId, id: SessionId): RawBuilder<number | null> {
  const usd = costOf(sql`session.tenant_id = ${tenantId} and session.id = ${id}`)
  return sql`round((${usd})::numeric, 6)::double precision`
}

/** What the tenant's calls that began since an instant have cost, in USD; those whose sessions were erased by their logs. */
export async function sumCosts(
  db: Db,
  tenantId: TenantId,
  { since, begunAfter, exceptCallSid = '' }: Omit<Day, 'now'>,
): Promise<number> {
  const ofSessions = costOf(sql`
           session.tenant_id = ${tenantId} and session.created_at > ${begunAfter} and session.started_at >= ${since}
       and session.call_sid <> ${exceptCallSid}`)
  const { rows } = await sql<{ usd: number }>`
    select coalesce((${ofSessions}), 0) + coalesce((
             select sum(cost_usd) from call_logs
              where tenant_id = ${tenantId} and created_at > ${begunAfter} and coalesce(answered_at, created_at) >= ${since}
                and voice_session_id is null and cost_usd is not null and call_sid <> ${exceptCallSid}), 0) as usd
  `.execute(db)
  return rows[0]?.usd ?? 0
}

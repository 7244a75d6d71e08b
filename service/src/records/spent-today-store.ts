import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

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

/**
 * What the tenant's sessions that began since an instant have cost, in USD; those that are not over by the turns that are
 * stored, and so are those that were lost with their process.
 */
export async function sumCosts(
  db: Db,
  tenantId: TenantId,
  { since, begunAfter, exceptCallSid = '' }: Omit<Day, 'now'>,
): Promise<number> {
  const { rows } = await sql<{ usd: number }>`
    select coalesce(sum(greatest(session.cost_usd, turns.usd)), 0)::double precision as usd
      from voice_sessions session
      left join lateral (
        select sum(turn.cost_usd) as usd from transcript_turns turn
         where (session.ended_at is null or session.cost_usd is null or session.end_reason in ('process_lost', 'transferred'))
           and turn.tenant_id = session.tenant_id and turn.session_id = session.id) turns on true
     where session.tenant_id = ${tenantId} and session.created_at > ${begunAfter} and session.started_at >= ${since}
       and session.call_sid <> ${exceptCallSid}
  `.execute(db)
  return rows[0]?.usd ?? 0
}

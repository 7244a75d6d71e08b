import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { CallDirection, CallStatus } from '../records/call-values.ts'

/** A call of a tenant that is not over; without an id when its carrier has not said that it has it. `status`: null where its session alone goes on. */
export type UnfinishedCall = { callSid: string | null; direction: CallDirection; status: CallStatus | null }

/** More than one installation has at a time. */
const MAX_CALLS = 100_000

/**
 * The tenant's calls whose log or session has no end yet, on whatever node. By an index of each: few are not over, whatever there was
 * before them.
 */
export async function listUnfinished(db: Db, tenantId: TenantId): Promise<UnfinishedCall[]> {
  const isLive = sql<boolean>`log.status in ('queued', 'initiated', 'ringing', 'in-progress')`
  const { rows } = await sql<UnfinishedCall>`
    select log.call_sid as "callSid", log.direction, log.status
      from call_logs log
     where log.tenant_id = ${tenantId} and ${isLive}
     union all
    select session.call_sid, session.direction, null
      from voice_sessions session
     where session.tenant_id = ${tenantId} and session.stream_sid is not null and session.ended_at is null
       and not exists (select from call_logs log
                        where log.tenant_id = session.tenant_id and log.call_sid = session.call_sid and ${isLive})
     limit ${MAX_CALLS}`.execute(db)
  return rows
}

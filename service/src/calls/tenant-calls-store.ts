import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { CallDirection } from '../records/call-values.ts'

/** A call of a tenant that is not over; without an id when its carrier has not said that it has it. */
export type UnfinishedCall = { callSid: string | null; direction: CallDirection }

/** More than one installation has at a time. */
const MAX_CALLS = 100_000

/** The tenant's calls whose log or session has no end yet, on whatever node. */
export function listUnfinished(db: Db, tenantId: TenantId): Promise<UnfinishedCall[]> {
  return db
    .selectFrom('call_logs as log')
    .leftJoin('voice_sessions as session', (join) =>
      join.onRef('session.tenant_id', '=', 'log.tenant_id').onRef('session.call_sid', '=', 'log.call_sid'),
    )
    .select(['log.call_sid as callSid', 'log.direction'])
    .where('log.tenant_id', '=', tenantId)
    .where(({ and, eb, or }) =>
      or([
        eb('log.ended_at', 'is', null),
        and([eb('session.stream_sid', 'is not', null), eb('session.ended_at', 'is', null)]),
      ]),
    )
    .limit(MAX_CALLS)
    .execute()
}

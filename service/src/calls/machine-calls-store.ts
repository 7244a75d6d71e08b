import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

/** Who answered a call, in its carrier's word. */
type CarrierAnswered = { tenantId: TenantId; callSid: string; answeredBy: string | null }

/** Which of these calls their carriers have said of who answered them, where nothing surer is known. */
export async function carrierAnsweredAcrossTenants(db: Db, callSids: string[]): Promise<CarrierAnswered[]> {
  if (callSids.length === 0) return []
  return db
    .selectFrom('call_directory as entry')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'entry.tenant_id').onRef('log.call_sid', '=', 'entry.call_sid'),
    )
    .select(['log.tenant_id as tenantId', 'entry.call_sid as callSid', 'log.answered_by as answeredBy'])
    .where('entry.call_sid', 'in', callSids)
    .where('log.answered_by_source', '=', 'carrier')
    .execute()
}

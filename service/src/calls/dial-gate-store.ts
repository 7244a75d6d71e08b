import type { TenantId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'
import { isLive } from '../records/live-call-store.ts'

/** The calls to a number since an instant which the carrier took, and those of which it has not said so yet. */
export async function countAttempts(tx: Tx, tenantId: TenantId, to: string, since: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('call_logs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('to', '=', to)
    .where('created_at', '>=', since)
    .where('direction', '=', 'outbound')
    .where((eb) => eb.or([eb('call_sid', 'is not', null), isLive]))
    .executeTakeFirstOrThrow()
  return count
}

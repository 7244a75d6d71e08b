import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'

/** Makes this transaction the only one that lets calls of the tenant through the gate, until it ends. */
export async function lockGate(tx: Tx, tenantId: TenantId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`dial gate ${tenantId}`}, 0))`.execute(tx)
}

/** The tenant's calls that are not over, on whichever node. */
export async function countOpenCalls(tx: Tx, tenantId: TenantId): Promise<number> {
  const { count } = await tx
    .selectFrom('call_logs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('status', 'in', ['queued', 'initiated', 'ringing', 'in-progress'])
    .executeTakeFirstOrThrow()
  return count
}

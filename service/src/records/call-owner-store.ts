import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { isHeardFrom } from '../platform/nodes/heartbeat-store.ts'

/** A node whose heartbeat is older is taken to be gone: what it had cannot be reached any more. */
const SILENT_MS = 3_000
/** More than an installation has. */
const MAX_OWNERS = 1_000
const MAX_BUSY_TENANTS = 1_000

/** The node that has the stream of the tenant's call; null when there is no such call, or it is over. */
export async function findOwner(db: Db, tenantId: TenantId, streamSid: string): Promise<NodeId | null> {
  const row = await db
    .selectFrom('voice_sessions as s')
    .innerJoin('call_directory as d', (join) =>
      join.onRef('d.call_sid', '=', 's.call_sid').onRef('d.tenant_id', '=', 's.tenant_id'),
    )
    .select('d.owner')
    .where('s.tenant_id', '=', tenantId)
    .where('s.stream_sid', '=', streamSid)
    .where('s.ended_at', 'is', null)
    .orderBy('s.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.owner ?? null
}

/** The nodes that were heard from within 3 s and have calls of the tenant that are not over; at most 1,000. */
export async function listOwners(db: Db, tenantId: TenantId): Promise<NodeId[]> {
  const rows = await db
    .selectFrom('voice_sessions as s')
    .innerJoin('call_directory as d', (join) =>
      join.onRef('d.call_sid', '=', 's.call_sid').onRef('d.tenant_id', '=', 's.tenant_id'),
    )
    .innerJoin('nodes', 'nodes.node_id', 'd.owner')
    .select('nodes.node_id')
    .distinct()
    .where('s.tenant_id', '=', tenantId)
    .where('s.stream_sid', 'is not', null)
    .where('s.ended_at', 'is', null)
    .where(isHeardFrom(SILENT_MS))
    .limit(MAX_OWNERS)
    .execute()
  return rows.map(({ node_id }) => node_id)
}

/** The tenants that have calls with a stream that are not over; at most 1,000. */
export async function listBusyTenants(db: Db): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('voice_sessions')
    .select('tenant_id')
    .distinct()
    .where('stream_sid', 'is not', null)
    .where('ended_at', 'is', null)
    .limit(MAX_BUSY_TENANTS)
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

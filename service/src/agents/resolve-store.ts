import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

/** What the agent of this key speaks by now: the id of its published version; null when there is none. */
export async function findPublishedVersionId(
  db: Db,
  tenantId: TenantId,
  agentKey: string,
): Promise<AgentVersionId | null> {
  const row = await db
    .selectFrom('agents as agent')
    .innerJoin('agent_versions as version', (join) =>
      join.onRef('version.tenant_id', '=', 'agent.tenant_id').onRef('version.agent_id', '=', 'agent.id'),
    )
    .select('version.id')
    .where('agent.tenant_id', '=', tenantId)
    .where('agent.agent_key', '=', agentKey)
    .where('version.status', '=', 'published')
    .executeTakeFirst()
  return row?.id ?? null
}

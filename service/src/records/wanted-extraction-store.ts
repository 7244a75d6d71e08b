import { sql } from 'kysely'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'

/** Whether the version wants something taken from the conversations that its agent has; false for one that is gone. */
export async function wantsExtraction(tx: Tx, tenantId: TenantId, versionId: AgentVersionId): Promise<boolean> {
  const { rows } = await sql`
    select 1 from agent_versions version
     where version.tenant_id = ${tenantId} and version.id = ${versionId}
       and jsonb_typeof(version.config -> 'extraction') = 'object'`.execute(tx)
  return rows.length > 0
}

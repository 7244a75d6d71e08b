import { type ColumnType, sql } from 'kysely'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type RolloutRow = {
  tenant_id: TenantId
  id: string
  agent_id: AgentId
  agent_version_id: AgentVersionId
  /** From 0. */
  position: number
  /** Read as text: two decimals, exact. */
  traffic_percentage: ColumnType<string, number, number>
  /** Where it begins among the callers, in hundredths of a percent; null: right behind the one before. */
  starts_at: number | null
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    agent_version_rollouts: RolloutRow
  }
}

/** An entry of an agent's rollout, with what its version and its agent are called. */
export type Rollout = Omit<RolloutRow, 'traffic_percentage'> & {
  traffic_percentage: number
  agent_key: string
  agent_name: string
  version_number: number
}

/** A version and its share, in percent, to be stored in the order of a list. */
export type NewRollout = Pick<RolloutRow, 'id' | 'agent_version_id' | 'starts_at' | 'created_at' | 'updated_at'> & {
  traffic_percentage: number
}

/** The agent's rollout in its order. */
export async function listRollouts(db: Db, tenantId: TenantId, agentId: AgentId): Promise<Rollout[]> {
  return db
    .selectFrom('agent_version_rollouts as rollout')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.tenant_id', '=', 'rollout.tenant_id').onRef('agent.id', '=', 'rollout.agent_id'),
    )
    .innerJoin('agent_versions as version', (join) =>
      join.onRef('version.tenant_id', '=', 'rollout.tenant_id').onRef('version.id', '=', 'rollout.agent_version_id'),
    )
    .select(['rollout.tenant_id', 'rollout.id', 'rollout.agent_id', 'rollout.agent_version_id', 'rollout.position'])
    .select([
      'rollout.starts_at',
      'rollout.created_at',
      'rollout.updated_at',
      'agent.agent_key',
      'agent.name as agent_name',
    ])
    .select(['version.version_number', sql<number>`rollout.traffic_percentage::float8`.as('traffic_percentage')])
    .where('rollout.tenant_id', '=', tenantId)
    .where('rollout.agent_id', '=', agentId)
    .orderBy('rollout.position')
    .execute()
}

/** Those of these versions that are the agent's. */
export async function findVersionsOf(
  db: Db,
  tenantId: TenantId,
  agentId: AgentId,
  versionIds: AgentVersionId[],
): Promise<Set<AgentVersionId>> {
  if (versionIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('agent_versions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .where('id', 'in', versionIds)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Puts these in place of the agent's rollout. To be called with `lockAgent`. */
export async function replaceRollouts(tx: Tx, tenantId: TenantId, agentId: AgentId, next: NewRollout[]): Promise<void> {
  await tx
    .deleteFrom('agent_version_rollouts')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .execute()
  if (next.length === 0) return
  const rows = next.map((rollout, position) => ({ ...rollout, tenant_id: tenantId, agent_id: agentId, position }))
  await tx.insertInto('agent_version_rollouts').values(rows).execute()
}

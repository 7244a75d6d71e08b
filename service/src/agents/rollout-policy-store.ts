import type { AgentId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

/** When a version that does badly is to lose its share; rates and scores are from 0 to 1. */
export type RolloutPolicy = {
  enabled: boolean
  lookback_hours: number
  min_avg_score: number
  min_eval_count: number
  min_high_quality_rate: number
}

type RolloutPolicyRow = RolloutPolicy & { tenant_id: TenantId; agent_id: AgentId; created_at: Date; updated_at: Date }

declare module '../platform/db/schema.ts' {
  interface Schema {
    rollout_policies: RolloutPolicyRow
  }
}

export async function findRolloutPolicy(db: Db, tenantId: TenantId, agentId: AgentId): Promise<RolloutPolicy | null> {
  const row = await db
    .selectFrom('rollout_policies')
    .select(['enabled', 'lookback_hours', 'min_avg_score', 'min_eval_count', 'min_high_quality_rate'])
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return row ?? null
}

/** Creates the agent's policy or puts this one in its place. */
export async function writeRolloutPolicy(
  tx: Tx,
  tenantId: TenantId,
  agentId: AgentId,
  { policy, now }: { policy: RolloutPolicy; now: Date },
): Promise<void> {
  const values = { ...policy, updated_at: now }
  await tx
    .insertInto('rollout_policies')
    .values({ ...values, tenant_id: tenantId, agent_id: agentId, created_at: now })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'agent_id']).doUpdateSet(values))
    .execute()
}

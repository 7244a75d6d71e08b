import { type ColumnType, type Generated, type SqlBool, sql } from 'kysely'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

/** When a version that does badly is to lose its share; rates and scores are from 0 to 1. */
export type RolloutPolicy = {
  enabled: boolean
  lookback_hours: number
  min_avg_score: number
  min_eval_count: number
  min_high_quality_rate: number
}

/** What versions lost of a rollout by its policy, all at once. `at` is an instant in ISO 8601; the shares are those that they had. */
export type LastRollback = {
  at: string
  reasons: string[]
  versions: { agent_version_id: AgentVersionId; version_number: number; traffic_percentage: number }[]
}

type RolloutPolicyRow = RolloutPolicy & {
  tenant_id: TenantId
  agent_id: AgentId
  created_at: Date
  updated_at: Date
  /** When a sweep last judged by it. */
  swept_at: Generated<Date | null>
  /** Written as JSON. */
  last_rollback: ColumnType<LastRollback | null, never, string>
}

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

/** What the agent's rollout lost last; null if it has lost nothing. */
export async function findLastRollback(db: Db, tenantId: TenantId, agentId: AgentId): Promise<LastRollback | null> {
  const row = await db
    .selectFrom('rollout_policies')
    .select('last_rollback')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return row?.last_rollback ?? null
}

/** Notes beside the agent's policy what its rollout has lost by it. To be called with `lockAgent`. */
export async function noteRollback(tx: Tx, tenantId: TenantId, agentId: AgentId, lost: LastRollback): Promise<void> {
  await tx
    .updateTable('rollout_policies')
    .set({ last_rollback: JSON.stringify(lost) })
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .execute()
}

/** An agent with a policy. */
export type GovernedAgent = { tenant_id: TenantId; agent_id: AgentId }

/** Which agents a sweep is after. `tenantId`: null for all. `acting`: only those whose policy is enabled and who have a rollout. */
export type Governed = { tenantId: TenantId | null; acting: boolean; sweptBefore: Date; limit: number; now: Date }

/**
 * Takes up to `limit` agents with a policy, those that have waited longest for a sweep first, and notes that they are swept now.
 * Two who ask at once get different ones.
 */
export async function takeGovernedAcrossTenants(
  db: Db,
  { tenantId, acting, sweptBefore, limit, now }: Governed,
): Promise<GovernedAgent[]> {
  const isMeant = tenantId === null ? sql<SqlBool>`true` : sql<SqlBool>`tenant_id = ${tenantId}`
  const mayAct = acting
    ? sql<SqlBool>`enabled and exists (select from agent_version_rollouts rollout
                     where rollout.tenant_id = policy.tenant_id and rollout.agent_id = policy.agent_id)`
    : sql<SqlBool>`true`
  const { rows } = await sql<GovernedAgent>`
    with picked as materialized (
      select tenant_id, agent_id from rollout_policies policy
       where ${isMeant} and ${mayAct} and (swept_at is null or swept_at <= ${sweptBefore})
       order by swept_at nulls first, tenant_id, agent_id limit ${limit} for update skip locked)
    update rollout_policies row set swept_at = ${now}
      from picked
     where row.tenant_id = picked.tenant_id and row.agent_id = picked.agent_id
    returning row.tenant_id, row.agent_id`.execute(db)
  return rows
}

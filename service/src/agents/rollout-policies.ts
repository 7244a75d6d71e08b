import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import type { AgentId, TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import { hasAgent, lockAgent } from './agent-store.ts'
import { findRolloutPolicy, type RolloutPolicy, writeRolloutPolicy } from './rollout-policy-store.ts'
import { unknownAgent } from './unknown-agent.ts'

/** What a policy says where its writer says nothing. */
export const POLICY_DEFAULTS: RolloutPolicy = {
  enabled: false,
  lookback_hours: 24,
  min_avg_score: 0.7,
  min_eval_count: 20,
  min_high_quality_rate: 0.6,
}

/** The policies by which rollouts of agents are to be watched. */
export type RolloutPolicies = {
  /** Null when the agent has none. @throws AppError `not_found` for an unknown tenant or agent. */
  get(tenantId: TenantId, agentId: AgentId): Promise<RolloutPolicy | null>
  /** Writes the policy as a whole. @throws AppError `not_found`. */
  put(tenantId: TenantId, agentId: AgentId, policy: RolloutPolicy, by: Actor): Promise<RolloutPolicy>
}

export function makeRolloutPolicies({ db, clock }: { db: Db; clock: Clock }): RolloutPolicies {
  return {
    async get(tenantId, agentId) {
      if (!(isUuid(agentId) && (await hasAgent(db, tenantId, agentId)))) throw unknownAgent()
      return findRolloutPolicy(db, tenantId, agentId)
    },
    async put(tenantId, agentId, policy, by) {
      await db.transaction().execute(async (tx) => {
        await holdKnownTenant(tx, tenantId)
        if (!(isUuid(agentId) && (await lockAgent(tx, tenantId, agentId)))) throw unknownAgent()
        const before = await findRolloutPolicy(tx, tenantId, agentId)
        const now = new Date(clock.now())
        await writeRolloutPolicy(tx, tenantId, agentId, { policy, now })
        const told = { before, after: policy, at: now }
        await audit(tx, { by, action: 'rollout_policy.changed', tenantId, targetId: agentId, ...told })
      })
      return policy
    },
  }
}

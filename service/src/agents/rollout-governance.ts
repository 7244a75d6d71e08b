import { enqueue } from '../delivery/enqueue.ts'
import { type Actor, THE_SYSTEM } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import type { AgentId, TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { iso } from '../platform/http/schemas.ts'
import { scoresOfVersions } from '../records/evaluations/evaluation-store.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type AgentRow, findAgent, lockAgent } from './agent-store.ts'
import { findSpeakingVersions, type SpeakingVersion } from './agent-version-store.ts'
import type { GovernanceEvaluation } from './rollout-governance-shape.ts'
import { type Judgement, judgeRollout } from './rollout-judgement.ts'
import { POLICY_DEFAULTS } from './rollout-policies.ts'
import { findRolloutPolicy, noteRollback, type RolloutPolicy } from './rollout-policy-store.ts'
import { showRollout } from './rollout-shape.ts'
import { listRollouts } from './rollout-store.ts'
import { takeOut } from './rollouts.ts'
import { unknownAgent } from './unknown-agent.ts'

/** Looks at rollouts, and takes calls away from versions that do badly. It never gives a version more. */
export type Governance = {
  /**
   * Judges the rollout of an agent by its policy. With `apply`, versions that do badly lose their share to the published
   * version, and the others keep theirs: judged and done in one transaction, so that nothing is overwritten that a person has
   * changed meanwhile.
   *
   * @throws AppError `not_found` for an unknown tenant or agent.
   */
  evaluate(tenantId: TenantId, agentId: AgentId, asked: { apply: boolean; by?: Actor }): Promise<GovernanceEvaluation>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

const HOUR_MS = 3_600_000

export function makeGovernance({ db, clock, tenants }: Deps): Governance {
  /** What is thought of the rollout, by what this handle sees. */
  async function judged(handle: Db, { tenant_id, id, agent_key }: AgentRow) {
    const policy = await findRolloutPolicy(handle, tenant_id, id)
    const rollouts = await listRollouts(handle, tenant_id, id)
    const speaking = await findSpeakingVersions(handle, tenant_id, agent_key)
    const published = speaking.find(({ status }) => status === 'published')
    const { lookback_hours } = policy ?? POLICY_DEFAULTS
    const since = new Date(clock.now() - lookback_hours * HOUR_MS)
    const versions = speaking.map((version) => ({
      id: version.id,
      // What it said before it was changed says nothing of what it says now.
      begunSince: changedAt(version),
      // A call from a browser has no share: who talks in one to another version than the published one has named it, to try it.
      isTried: version.status !== 'published',
    }))
    const scores = await scoresOfVersions(handle, tenant_id, { versions, since })
    const judgement = judgeRollout({
      ...{ policy, scores },
      published: published ? { agent_version_id: published.id, version_number: published.version_number } : null,
      rollouts: rollouts.map(({ agent_version_id, version_number, traffic_percentage }) => {
        return { agent_version_id, version_number, traffic_percentage }
      }),
    })
    return { policy, judgement }
  }

  async function applyIn(tx: Tx, tenant: TenantRuntime, agentId: AgentId, by: Actor): Promise<GovernanceEvaluation> {
    await holdKnownTenant(tx, tenant.tenant_id)
    const agent = await lockAgent(tx, tenant.tenant_id, agentId)
    if (!agent) throw unknownAgent()
    const { policy, judgement } = await judged(tx, agent)
    if (judgement.status !== 'rollback_recommended') return told(agent, policy, judgement)
    const lost = judgement.rollout_versions.filter(({ breached }) => breached)
    const now = new Date(clock.now())
    const left = await takeOut(tx, agent.tenant_id, agent.id, {
      leaves: ({ agent_version_id }) => lost.some((each) => each.agent_version_id === agent_version_id),
      ...{ action: 'rollout.rolled_back', by, at: now },
    })
    const evaluation = { ...told(agent, policy, withRollback(judgement)), applied: true }
    await noteRollback(tx, agent.tenant_id, agent.id, {
      ...{ at: iso(now), reasons: evaluation.reasons },
      versions: lost.map(({ agent_version_id, version_number, traffic_percentage }) => {
        return { agent_version_id, version_number, traffic_percentage }
      }),
    })
    const rollouts = left.map(showRollout)
    await enqueue(tx, tenant, [{ event: 'rollout.rolled_back', subject: null, payload: { evaluation, rollouts } }], now)
    return evaluation
  }

  return {
    async evaluate(tenantId, agentId, { apply, by = THE_SYSTEM }) {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const tenant = await tenants.get(tenantId)
      if (!(tenant && isUuid(agentId))) throw unknownAgent()
      if (apply) return db.transaction().execute((tx) => applyIn(tx, tenant, agentId, by))
      const agent = await findAgent(db, tenantId, agentId)
      if (!agent) throw unknownAgent()
      const { policy, judgement } = await judged(db, agent)
      return told(agent, policy, judgement)
    },
  }
}

function told(agent: AgentRow, policy: RolloutPolicy | null, judgement: Judgement): GovernanceEvaluation {
  const { id: agent_id, agent_key, name: agent_name } = agent
  return { agent_id, agent_key, agent_name, applied: false, policy, ...judgement }
}

function withRollback(judgement: Judgement): Judgement {
  const { published_version, rollout_versions, reasons } = judgement
  const heir = `the published version ${published_version?.version_number}`
  const lost = rollout_versions.filter(({ breached }) => breached)
  const done = lost.map(({ version_number, traffic_percentage }) => {
    return `The share of version ${version_number}, ${traffic_percentage}%, went to ${heir}.`
  })
  return { ...judgement, status: 'rolled_back', reasons: [...reasons, ...done] }
}

/** A node of the version before writes of a draft only that it was changed. */
function changedAt({ status, created_at, updated_at, config_changed_at }: SpeakingVersion): Date | null {
  return status === 'draft' && updated_at > created_at ? updated_at : config_changed_at
}

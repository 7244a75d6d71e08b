import { type Actor, THE_SYSTEM } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, sentenceOf } from '../kernel/errors.ts'
import type { AgentId, TenantId } from '../kernel/ids.ts'
import { inLanes } from '../kernel/in-lanes.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { Governance } from './rollout-governance.ts'
import type { GovernanceStatus } from './rollout-judgement.ts'
import { type GovernedAgent, takeGovernedAcrossTenants } from './rollout-policy-store.ts'

/**
 * What a sweep is asked for. `tenantId`: the only tenant to look at; null for all. `acting`: leaves out agents of whom nothing
 * can come. `minAgeMs`: leaves out those that another sweep has judged since.
 */
export type GovernanceAsk = {
  tenantId: TenantId | null
  apply: boolean
  limitAgents: number
  acting?: boolean
  minAgeMs?: number
  by?: Actor
}

/** What became of an agent. */
export type GovernedItem = GovernedAgent & {
  agent_key: string
  status: GovernanceStatus
  applied: boolean
  reasons: string[]
}

/** What a sweep came to. What could not be judged for a technical reason is a failure, not an item. */
export type GovernanceSweepResult = {
  attempted_agents: number
  attempted_tenants: number
  evaluated_agents: number
  evaluated_tenants: number
  rollback_recommended: number
  rollbacks_applied: number
  items: GovernedItem[]
  failures: { tenant_id: TenantId; agent_id: AgentId; error: string }[]
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  governance: Governance
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** Agents at a time. */
const LANES = 4
/** Somebody waits for the answer: nothing is begun after this. */
const BEGINS_WITHIN_MS = 20_000

/**
 * Judges the rollouts of agents with a policy, those that have waited longest first, and acts on them with `apply`. What fails
 * with one agent holds up no other.
 *
 * @throws what the database throws when it cannot be asked for agents.
 */
export async function sweepGovernance(deps: Deps, ask: GovernanceAsk): Promise<GovernanceSweepResult> {
  const { db, clock, isStopping } = deps
  const { tenantId, apply, limitAgents: limit, acting = false, minAgeMs = 0, by = THE_SYSTEM } = ask
  const endsMs = clock.monotonicMs() + BEGINS_WITHIN_MS
  const now = new Date(clock.now())
  const sweptBefore = new Date(now.getTime() - minAgeMs)
  const agents = limit === 0 ? [] : await takeGovernedAcrossTenants(db, { tenantId, acting, sweptBefore, limit, now })
  const [items, failures]: [GovernedItem[], GovernanceSweepResult['failures']] = [[], []]
  await inLanes(agents, LANES, async (agent) => {
    if (isStopping() || clock.monotonicMs() >= endsMs) return
    const { tenant_id, agent_id } = agent
    try {
      const { agent_key, status, applied, reasons } = await deps.governance.evaluate(tenant_id, agent_id, { apply, by })
      items.push({ tenant_id, agent_id, agent_key, status, applied, reasons })
    } catch (err) {
      if (!(err instanceof AppError)) deps.log.error({ tenant_id, agent_id, err }, 'a rollout was not judged')
      failures.push({ tenant_id, agent_id, error: sentenceOf(err) })
    }
  })
  return counted(items, failures)
}

function counted(items: GovernedItem[], failures: GovernanceSweepResult['failures']): GovernanceSweepResult {
  const tenantsOf = (agents: GovernedAgent[]) => new Set(agents.map(({ tenant_id }) => tenant_id)).size
  const having = (...statuses: GovernanceStatus[]) => items.filter(({ status }) => statuses.includes(status)).length
  return {
    attempted_agents: items.length + failures.length,
    attempted_tenants: tenantsOf([...items, ...failures]),
    evaluated_agents: items.length,
    evaluated_tenants: tenantsOf(items),
    rollback_recommended: having('rollback_recommended', 'rolled_back'),
    rollbacks_applied: items.filter(({ applied }) => applied).length,
    items,
    failures,
  }
}

import type { ResolveAgent } from './agents/resolve.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import type { FindJudged } from './records/evaluations/conversation.ts'
import { evaluationRoutes } from './records/evaluations/evaluation-routes.ts'
import { makeEvaluations } from './records/evaluations/evaluations.ts'
import { Scorer } from './records/evaluations/scorer.ts'
import { agentConfigDefaults } from './tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'

type Needs = {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
}

/** Wires what says how good conversations were: the routes, and whoever scores sessions that have ended. */
export function makeEvaluating(deps: Deps, { tenants, resolveAgent }: Needs) {
  const { clock, log, chat: model, database } = deps
  const findJudged = judgedBy(resolveAgent)
  const given = { db: database.db, clock, log, tenants, findJudged, model }
  const scorer = new Scorer({ ...given, isAlone: database.kind !== 'server' })
  return {
    /** To be registered behind `tenantGuard`. */
    tenantRoutes: evaluationRoutes(makeEvaluations(given)),
    /** Where nothing is kept, nothing is scored. */
    start: () => (database.kind === 'memory' ? Promise.resolve() : scorer.start()),
    close: () => scorer.close(),
  }
}

/** A session is judged by the version that spoke, also when that is not published any more. */
function judgedBy(resolveAgent: ResolveAgent): FindJudged {
  return async (tenant, { agent_version_id: versionId }) => {
    const agent = await resolveAgent(tenant, versionId === null ? null : { versionId })
    const { criteria, extraction, chat_model } = agent?.config ?? agentConfigDefaults({})
    return { agentId: agent?.agentId ?? null, criteria, extraction, chatModel: chat_model || null }
  }
}

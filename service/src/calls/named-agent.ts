import type { AgentChoice, ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { type AppError, invalidRequest } from '../kernel/errors.ts'
import type { AgentVersionId } from '../kernel/ids.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/**
 * Who shall speak, as a request names it: by a key, or an exact version, drafts too, which may be named beside its agent's key. Null is
 * what was not given. `caller`: whom the shares of the agent's rollout stick to; where it is not given an agent that is named by its
 * key alone speaks by its published version.
 */
export type NamedAgent = { agentKey: string | null; versionId: AgentVersionId | null; caller?: string }

/**
 * The agent that a request names. A key that has nothing to speak is a mistake of whoever typed it, so the tenant's own agent
 * does not step in.
 *
 * @throws AppError `invalid_request` unless one is given, the tenant has it, and two of them are of one agent.
 */
export async function namedAgent(
  resolveAgent: ResolveAgent,
  tenant: TenantRuntime,
  given: NamedAgent,
): Promise<ResolvedAgent> {
  const agent = await resolveAgent(tenant, choiceOf(given))
  const isOther = given.agentKey !== null && agent?.agentKey !== given.agentKey
  if (!agent || isOther) throw unknownAgent(given)
  return agent
}

/** @throws AppError `invalid_request` unless one is given. */
function choiceOf({ agentKey, versionId, caller }: NamedAgent): AgentChoice {
  if (versionId !== null) return { versionId }
  if (agentKey !== null) return { agentKey, ...(caller !== undefined && { caller }) }
  throw invalidRequest([{ path: '/body/agent_key', message: 'is required, or agent_version_id' }])
}

function unknownAgent({ agentKey, versionId }: NamedAgent): AppError {
  if (versionId === null)
    return invalidRequest([{ path: '/body/agent_key', message: 'is not the key of an agent with a published version' }])
  const whose = agentKey === null ? 'an agent of yours' : 'the agent that agent_key names'
  return invalidRequest([{ path: '/body/agent_version_id', message: `is not a version of ${whose}` }])
}

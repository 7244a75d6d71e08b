import type { AgentChoice, ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import { type AgentVersionId, newId, type TenantId } from '../kernel/ids.ts'
import type { Sessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { StreamTokens } from '../voice/stream-token.ts'

/** Who shall speak: exactly one of these is given. */
export type BrowserCallChoice = { agentKey: string | null; versionId: AgentVersionId | null }

/** What a page needs to open the stream of its call. */
export type BrowserCall = { callSid: string; streamUrl: string; streamToken: string }

/** Calls without a carrier: a person at a page talks to an agent. */
export type BrowserCalls = {
  /**
   * Opens a call. Its stream has to begin while the token is good.
   *
   * @throws AppError `invalid_request` unless exactly one agent is named, and the tenant has it; `unavailable` when there is
   * no room for a call, or no model.
   */
  open(tenantId: TenantId, choice: BrowserCallChoice): Promise<BrowserCall>
}

type Deps = {
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  sessions: Sessions
  tokens: StreamTokens
  capacity: LiveCapacity
  hasModel: boolean
  streamUrl: () => string
}

export function makeBrowserCalls(deps: Deps): BrowserCalls {
  const { clock, tenants, resolveAgent, sessions, tokens, capacity } = deps

  /** A key that has nothing to speak is a mistake of whoever typed it, so the tenant's own agent does not step in. */
  async function agentOf(tenant: TenantRuntime, given: BrowserCallChoice): Promise<ResolvedAgent> {
    const choice = choiceOf(given)
    const agent = await resolveAgent(tenant, choice)
    const isOther = given.agentKey !== null && agent?.agentKey !== given.agentKey
    if (!agent || isOther) throw unknownAgent(given)
    return agent
  }

  return {
    async open(tenantId, given) {
      const tenant = await tenants.get(tenantId)
      if (!tenant) throw new AppError('not_found', 'There is no such tenant.')
      const agent = await agentOf(tenant, given)
      if (!deps.hasModel) throw new AppError('unavailable', 'No realtime model is configured: no agent can speak.')
      const callSid = `browser-${newId<string>(clock.now())}`
      const room = { tenantId, callSid, maxConcurrentCalls: tenant.limits.max_concurrent_calls }
      if (capacity.reserve(room)) throw new AppError('unavailable', 'There is no room for another call now.')
      const call = { callSid, direction: 'browser' as const, from: 'browser', to: agent.agentKey ?? agent.agentName }
      const opened = await sessions
        .open(tenant, { ...call, orgId: null, agent, metadata: {} })
        .catch((error: unknown) => {
          capacity.release(callSid)
          throw error
        })
      const grant = { tenant: tenantId, call_sid: callSid, agent_version_id: agent.versionId }
      const streamToken = tokens.issue({ ...grant, direction: 'browser', epoch: opened.epoch })
      return { callSid, streamUrl: deps.streamUrl(), streamToken }
    },
  }
}

/** @throws AppError `invalid_request` unless exactly one is given. */
function choiceOf({ agentKey, versionId }: BrowserCallChoice): AgentChoice {
  if (agentKey !== null && versionId !== null) {
    throw invalidRequest([{ path: '/body/agent_version_id', message: 'must not be given together with agent_key' }])
  }
  if (versionId !== null) return { versionId }
  if (agentKey !== null) return { agentKey }
  throw invalidRequest([{ path: '/body/agent_key', message: 'is required, or agent_version_id' }])
}

function unknownAgent({ versionId }: BrowserCallChoice): AppError {
  return versionId === null
    ? invalidRequest([{ path: '/body/agent_key', message: 'is not the key of an agent with a published version' }])
    : invalidRequest([{ path: '/body/agent_version_id', message: 'is not a version of an agent of yours' }])
}

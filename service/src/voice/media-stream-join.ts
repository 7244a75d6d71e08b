import type { Clip } from '../agents/clips.ts'
import type { ResolveAgent } from '../agents/resolve.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamLeg } from './call-streams.ts'
import type { NoRoom } from './live-capacity.ts'
import { StreamRefusal, UNAUTHENTICATED } from './media-stream.ts'
import {
  type BeginDeps,
  type BeginningStream,
  begin,
  type Entitled,
  expectThere,
  greetedBy,
  type MachineAction,
  onMachine,
} from './stream-begin.ts'
import { type Grant, grantOf, type Shown } from './stream-grant.ts'
import { mayTake, POLICY, roomOf, TRY_AGAIN } from './stream-session.ts'
import type { StreamTokens } from './stream-token.ts'
import type { TenantTools } from './tools/tenant-tools.ts'

/** A socket that says that it carries a call. */
export type Joining = BeginningStream & {
  shown: Shown
  /** The handshake as it came, for the carrier's signature: its address in full, and its headers. */
  handshake: { url: string; headers: Record<string, string | string[] | undefined> }
  letIn: () => void
}

/** Finds out whose call a stream carries, and begins its session, or goes on with it. */
export type JoinStream = (joining: Joining) => Promise<StreamLeg>

export type JoinDeps = BeginDeps & {
  tokens: StreamTokens
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  carriers: Carriers
  /** What the agent of an outbound call says first in place of its own greeting; null for its own. */
  greetingOf(tenantId: TenantId, callSid: string): Promise<string | null>
  /** What is done in an outbound call when a machine answers, in place of what its agent does; null for that. */
  machineActionOf(tenantId: TenantId, callSid: string): Promise<MachineAction | null>
  /** What the model of the tenant's calls is told first; null for nothing. */
  promptOf(tenant: TenantRuntime): Promise<string | null>
  /** Those of the tenant's own tools that an agent may use, by the names in its config. Never rejects. */
  tenantTools: Pick<TenantTools, 'of'>
  /** What was spoken ahead of an agent's first words; soon, and never rejects. */
  clipsOf(tenant: TenantRuntime, config: CompleteAgentConfig): Promise<readonly Clip[]>
  /**
   * Notes why there is no room for the stream of a carrier's call: one that has never had one gets another, or is told so, when its
   * carrier asks. Soon, and never rejects.
   */
  notLetIn(tenantId: TenantId, callSid: string, why: NoRoom): Promise<void>
  /** No stream comes any more for a page's call: its token is used up. Never throws. */
  unbegun(tenantId: TenantId, callSid: string): void
}

/**
 * The way in for a stream: credential, tenant, signature, agent, room, record, session, in this order. No model is connected
 * before all of these stand.
 *
 * The function throws StreamRefusal for a stream that may not be, or for which there is no room now.
 */
export function makeJoinStream(deps: JoinDeps): JoinStream {
  const { tenants, resolveAgent, capacity, live } = deps
  /** Calls and streams on their way in: a second one must not slip in beside the first. */
  const onTheWay = new Set<string>()

  async function joinByGrant(joining: Joining, grant: Grant): Promise<StreamLeg> {
    const tenant = await tenants.get(grant.tenantId)
    if (!tenant) throw new StreamRefusal(UNAUTHENTICATED, 'the tenant is gone')
    if (!isGenuine(deps.carriers, tenant, joining)) throw new StreamRefusal(UNAUTHENTICATED, 'the signature is wrong')
    joining.letIn()
    const agent = await resolveAgent(tenant, grant.choice)
    if (!agent) throw new StreamRefusal(POLICY, 'there is no such agent')
    const isOutbound = grant.direction === 'outbound'
    const [greeting, action, prompt, tools, clips] = await Promise.all([
      isOutbound ? deps.greetingOf(grant.tenantId, grant.callSid) : null,
      isOutbound ? deps.machineActionOf(grant.tenantId, grant.callSid) : null,
      deps.promptOf(tenant),
      deps.tenantTools.of(tenant, agent.config.tools),
      deps.clipsOf(tenant, agent.config),
    ])
    expectThere(joining)
    // By tenant: whoever names a call of another tenant's is not in its way.
    const { tenantId, callSid } = grant
    const names = [`call ${tenantId} ${callSid}`, `stream ${tenantId} ${joining.start.streamSid}`]
    return alone(names, () =>
      enter(joining, { grant, tenant, agent: onMachine(greetedBy(agent, greeting), action), prompt, tools, clips }),
    )
  }

  async function alone(names: string[], work: () => Promise<StreamLeg>): Promise<StreamLeg> {
    if (names.some((name) => onTheWay.has(name))) throw new StreamRefusal(POLICY, 'the call has another stream')
    for (const name of names) onTheWay.add(name)
    try {
      return await work()
    } finally {
      for (const name of names) onTheWay.delete(name)
    }
  }

  async function enter(joining: Joining, entering: Entitled): Promise<StreamLeg> {
    const { grant, tenant } = entering
    const { callSid } = grant
    const here = live.findCall(tenant.tenant_id, callSid)
    if (live.hasStream(tenant.tenant_id, joining.start.streamSid) || (here && !mayTake(grant, here)))
      throw new StreamRefusal(POLICY, 'the call has another stream')
    const wanted = roomOf(tenant, grant)
    if (grant.epoch === null && capacity.has(wanted)) throw new StreamRefusal(POLICY, 'the call began elsewhere')
    const noRoom = here ? null : capacity.begin(wanted)
    if (noRoom) {
      if (grant.direction !== 'browser') await deps.notLetIn(tenant.tenant_id, callSid, noRoom)
      throw new StreamRefusal(TRY_AGAIN, 'there is no room for the call')
    }
    const beginning = live.beginning(tenant.tenant_id, callSid)
    try {
      return await begin(deps, joining, { ...entering, beginning, here })
    } catch (error) {
      // A session that is here keeps its place.
      if (!live.findCall(tenant.tenant_id, callSid)) capacity.release(wanted)
      throw error
    } finally {
      live.begun(beginning)
    }
  }

  return async (joining) => {
    const grant = await grantOf(deps.tokens, joining.start, joining.shown)
    try {
      return await joinByGrant(joining, grant)
    } catch (error) {
      if (grant.direction === 'browser' && grant.epoch !== null) deps.unbegun(grant.tenantId, grant.callSid)
      throw error
    }
  }
}

/** A signature is not asked for, because not every carrier signs handshakes; one that is there must be right. */
function isGenuine(carriers: Carriers, { telephony }: TenantRuntime, { start, handshake }: Joining): boolean {
  const { provider, account_sid, auth_token, auth_token_secondary } = telephony
  const tokens = [auth_token, auth_token_secondary].filter((token) => token !== null)
  const carrier = carriers[provider]
  const isKnown = account_sid !== null && account_sid === start.accountSid && tokens.length > 0
  if (!isKnown || !carrier.hasSignature(handshake.headers)) return true
  const spellings = [handshake.url, toggledSlash(handshake.url)]
  return spellings.some((url) => carrier.verify({ url, headers: handshake.headers, form: null }, tokens))
}

function toggledSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : `${url}/`
}

import type { AgentChoice, ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { FrameSocket } from '../platform/http/frame-socket.ts'
import type { Log } from '../platform/log.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { CallDirection } from '../records/call-values.ts'
import type { NewStream, Sessions } from '../records/sessions.ts'
import { findVoiceSession } from '../records/voice-session-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CallSession } from './call-session.ts'
import type { LiveCapacity } from './live-capacity.ts'
import type { LiveSessions } from './live-sessions.ts'
import { StreamRefusal, type StreamStart, UNAUTHENTICATED } from './media-stream.ts'
import type { EndedCall, SessionBuilder, StreamedCall } from './session-builder.ts'
import type { StreamClaims, StreamTokens } from './stream-token.ts'

/** What a socket has shown at its handshake; null: nothing, its start must. */
export type Shown = { type: 'token'; claims: StreamClaims } | { type: 'bearer'; tenantId: TenantId } | null

/** A socket that says that it carries a call. */
export type Joining = {
  start: StreamStart
  shown: Shown
  /** The handshake as it came, for the carrier's signature: its address in full, and its headers. */
  handshake: { url: string; headers: Record<string, string | string[] | undefined> }
  socket: FrameSocket
  codec: StreamCodec
  letIn: () => void
}

/** Finds out whose call a stream carries, and begins its session. */
export type JoinStream = (joining: Joining) => Promise<CallSession>

export type JoinDeps = {
  db: Db
  log: Pick<Log, 'info'>
  tokens: StreamTokens
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  sessions: Sessions
  carriers: Carriers
  /** Null without a model. */
  builder: SessionBuilder | null
  capacity: LiveCapacity
  live: LiveSessions
  /** Writes down how a call ended; never throws. */
  finish(ended: EndedCall): void
}

const POLICY = 1008
const TRY_AGAIN = 1013
const NORMAL = 1000

/** Whose call it is, and who is to speak: what the credential says. A null epoch: the call begins with this stream. */
type Grant = {
  tenantId: TenantId
  callSid: string
  epoch: number | null
  direction: CallDirection
  choice: AgentChoice
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

  async function join(joining: Joining): Promise<CallSession> {
    const grant = await grantOf(deps, joining)
    const tenant = await tenants.get(grant.tenantId)
    if (!tenant) throw new StreamRefusal(UNAUTHENTICATED, 'the tenant is gone')
    if (!isGenuine(deps.carriers, tenant, joining)) throw new StreamRefusal(UNAUTHENTICATED, 'the signature is wrong')
    joining.letIn()
    const agent = await resolveAgent(tenant, grant.choice)
    if (!agent) throw new StreamRefusal(POLICY, 'there is no such agent')
    const names = [`call ${grant.callSid}`, `stream ${joining.start.streamSid}`]
    return alone(names, () => enter(joining, { grant, tenant, agent }))
  }

  async function alone(names: string[], work: () => Promise<CallSession>): Promise<CallSession> {
    if (names.some((name) => onTheWay.has(name))) throw new StreamRefusal(POLICY, 'the call has another stream')
    for (const name of names) onTheWay.add(name)
    try {
      return await work()
    } finally {
      for (const name of names) onTheWay.delete(name)
    }
  }

  async function enter(joining: Joining, entering: Entering): Promise<CallSession> {
    const { grant, tenant } = entering
    const { callSid } = grant
    if (live.hasStream(joining.start.streamSid) || live.findCall(tenant.tenant_id, callSid))
      throw new StreamRefusal(POLICY, 'the call has another stream')
    const wanted = { tenantId: tenant.tenant_id, callSid, maxConcurrentCalls: tenant.limits.max_concurrent_calls }
    try {
      if (capacity.begin(wanted)) throw new StreamRefusal(TRY_AGAIN, 'there is no room for the call')
      return await begin(deps, joining, entering)
    } catch (error) {
      capacity.release(callSid)
      throw error
    }
  }

  return join
}

type Entering = { grant: Grant; tenant: TenantRuntime; agent: ResolvedAgent }

/** @throws StreamRefusal 4401 for a socket that has shown nothing good. */
async function grantOf({ tokens }: JoinDeps, { start, shown }: Joining): Promise<Grant> {
  if (shown?.type === 'bearer') return bearerGrant(shown.tenantId, start)
  const claims = shown?.claims ?? (await spentClaims(tokens, start.parameters['stream_token']))
  // A browser's stream has no carrier that knew the call before: its token alone says which it is.
  const isBound = claims.direction === 'browser' || claims.call_sid === start.callSid
  if (!isBound) throw new StreamRefusal(UNAUTHENTICATED, 'the token is for another call')
  const { tenant, call_sid, epoch, direction, agent_version_id: versionId } = claims
  return { tenantId: tenant, callSid: call_sid, epoch, direction, choice: versionId === null ? null : { versionId } }
}

async function spentClaims(tokens: StreamTokens, token: string | undefined): Promise<StreamClaims> {
  const claims = token === undefined ? null : tokens.read(token)
  if (!claims) throw new StreamRefusal(UNAUTHENTICATED, 'the stream has shown no good token')
  if (!(await tokens.spend(claims))) throw new StreamRefusal(UNAUTHENTICATED, 'the token was used before')
  return claims
}

/** An internal client says itself who is to speak, and what the call is called. */
function bearerGrant(tenantId: TenantId, { callSid, parameters }: StreamStart): Grant {
  const { agent_key: agentKey, agent_version_id: versionId } = parameters
  const choice = choiceOf(agentKey, versionId as AgentVersionId | undefined)
  if (!choice) throw new StreamRefusal(POLICY, 'the start names no agent_key')
  return { tenantId, callSid, epoch: null, direction: 'browser', choice }
}

function choiceOf(agentKey: string | undefined, versionId: AgentVersionId | undefined): AgentChoice {
  if (versionId) return { versionId }
  return agentKey ? { agentKey } : null
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

/** The records give the call to this stream, and the session begins. */
async function begin(deps: JoinDeps, joining: Joining, entering: Entering): Promise<CallSession> {
  const { builder } = deps
  if (!builder) throw new StreamRefusal(TRY_AGAIN, 'no realtime model is configured')
  const model = builder.modelOf(entering.tenant, entering.agent)
  const call = await recordedCall(deps, joining, { ...entering, model })
  const { session, live } = builder.build(call, (ended) => {
    deps.live.remove(live)
    deps.capacity.release(call.callSid)
    deps.finish(ended)
  })
  deps.live.add(live)
  session.dispatch({ type: 'opened' })
  const { tenant, callSid, streamSid, direction } = call
  deps.log.info({ tenant_id: tenant.tenant_id, call_sid: callSid, stream_sid: streamSid, direction }, 'call began')
  return session
}

/** @throws StreamRefusal when the records do not give the call to this stream. */
async function recordedCall(
  deps: JoinDeps,
  joining: Joining,
  { grant, tenant, agent, model }: Entering & { model: Pick<NewStream, 'model' | 'voice'> },
): Promise<StreamedCall> {
  const { start, socket, codec } = joining
  const { streamSid } = start
  const { callSid, direction } = grant
  const epoch = grant.epoch ?? (await deps.sessions.open(tenant, newCall(grant, agent))).epoch
  const started = await deps.sessions.started(tenant, { callSid, epoch, streamSid, ...model })
  const record = started && (await findVoiceSession(deps.db, tenant.tenant_id, started.sessionId))
  if (!record) throw new StreamRefusal(POLICY, 'the call is over, or another stream has it')
  const { id: sessionId, from, to, org_id: orgId } = record
  const carrier = {
    send: (frame: Buffer) => socket.send(frame),
    bufferedBytes: () => socket.bufferedBytes(),
    close: () => socket.close(NORMAL),
  }
  return { tenant, agent, callSid, streamSid, sessionId, epoch, direction, from, to, orgId, codec, carrier }
}

/** What is kept of a call that no carrier brought. */
function newCall({ callSid, direction }: Grant, agent: ResolvedAgent) {
  const { agentKey, agentName, versionId, versionNumber } = agent
  return {
    callSid,
    direction,
    from: direction,
    to: agentKey ?? agentName,
    orgId: null,
    agent: { agentKey, agentName, versionId, versionNumber },
    metadata: {},
  }
}

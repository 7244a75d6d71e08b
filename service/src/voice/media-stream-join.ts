import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { FrameSocket } from '../platform/http/frame-socket.ts'
import type { Log } from '../platform/log.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { Parts } from '../platform/websocket/frames.ts'
import { isMachine } from '../records/answered-by.ts'
import type { NewCall, Sessions, StartedSession } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamLeg } from './call-session.ts'
import type { LiveCapacity } from './live-capacity.ts'
import type { Beginning, LiveSession, LiveSessions } from './live-sessions.ts'
import { StreamRefusal, type StreamStart, UNAUTHENTICATED } from './media-stream.ts'
import type { EndedCall, SessionBuilder, StreamedCall } from './session-builder.ts'
import { type Grant, grantOf, type Shown } from './stream-grant.ts'
import type { StreamTokens } from './stream-token.ts'

/** A socket that says that it carries a call. */
export type Joining = {
  start: StreamStart
  shown: Shown
  /** The handshake as it came, for the carrier's signature: its address in full, and its headers. */
  handshake: { url: string; headers: Record<string, string | string[] | undefined> }
  socket: FrameSocket
  codec: StreamCodec
  letIn: () => void
  /** Aborts when the stream is over before it was let in, or takes too long: no session may begin any more. */
  signal: AbortSignal
}

/** Finds out whose call a stream carries, and begins its session, or goes on with it. */
export type JoinStream = (joining: Joining) => Promise<StreamLeg>

export type JoinDeps = {
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
  clock: Clock
  carrierCalls: Pick<CarrierAnswers, 'answered'>
  /** What the agent of an outbound call says first in place of its own greeting; null for its own. */
  greetingOf(tenantId: TenantId, callSid: string): Promise<string | null>
  /** What the model of the tenant's calls is told first; null for nothing. */
  promptOf(tenant: TenantRuntime): Promise<string | null>
  /** Writes down how a call ended, and resolves when that is done or given up. */
  finish(ended: EndedCall): Promise<void>
  /** Writes down the end of a call whose stream got it and then could not begin; never throws. */
  abandon(abandoned: AbandonedCall): void
}

/** Who knows what carriers were asked to do, and have not answered yet. None of these rejects. */
export type CarrierAnswers = {
  /** Resolves when nothing is on its way for the call any more: its carrier has answered, or was given up. */
  answered(tenant: TenantRuntime, callSid: string): Promise<void>
  /** Resolves when nothing is on its way for those calls any more for which there is something now. */
  allAnswered(): Promise<void>
}

/** A call that no session was begun for, though the records had given it to a stream; `isOver`: its carrier has ended it. */
export type AbandonedCall = { tenantId: TenantId; callSid: string; epoch: number; isOver: boolean }

const POLICY = 1008
const TRY_AGAIN = 1013
const NORMAL = 1000

/** How long a stream is left open for its carrier's answer to the request to end the call. */
const ANSWERED_WITHIN_MS = 5_000

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

  async function join(joining: Joining): Promise<StreamLeg> {
    const grant = await grantOf(deps.tokens, joining.start, joining.shown)
    const tenant = await tenants.get(grant.tenantId)
    if (!tenant) throw new StreamRefusal(UNAUTHENTICATED, 'the tenant is gone')
    if (!isGenuine(deps.carriers, tenant, joining)) throw new StreamRefusal(UNAUTHENTICATED, 'the signature is wrong')
    joining.letIn()
    const agent = await resolveAgent(tenant, grant.choice)
    if (!agent) throw new StreamRefusal(POLICY, 'there is no such agent')
    const greeting = grant.direction === 'outbound' ? await deps.greetingOf(grant.tenantId, grant.callSid) : null
    const prompt = await deps.promptOf(tenant)
    expectThere(joining)
    const names = [`call ${grant.callSid}`, `stream ${joining.start.streamSid}`]
    return alone(names, () => enter(joining, { grant, tenant, agent: greetedBy(agent, greeting), prompt }))
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

  async function enter(joining: Joining, entering: Entering): Promise<StreamLeg> {
    const { grant, tenant } = entering
    const { callSid } = grant
    const here = live.findCall(tenant.tenant_id, callSid)
    if (live.hasStream(joining.start.streamSid) || (here && !mayTake(grant, here)))
      throw new StreamRefusal(POLICY, 'the call has another stream')
    const wanted = { tenantId: tenant.tenant_id, callSid, maxConcurrentCalls: tenant.limits.max_concurrent_calls }
    if (grant.epoch === null && capacity.has(wanted)) throw new StreamRefusal(POLICY, 'the call began elsewhere')
    if (!here && capacity.begin(wanted)) throw new StreamRefusal(TRY_AGAIN, 'there is no room for the call')
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

  return join
}

type Entering = { grant: Grant; tenant: TenantRuntime; agent: ResolvedAgent; prompt: string | null }

/** @throws StreamRefusal, which nobody hears, when the stream is over or was given up. */
function expectThere({ signal }: Joining): void {
  if (signal.aborted) throw new StreamRefusal(TRY_AGAIN, 'the stream is over')
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

/** Of the streams of a call one with a higher epoch takes it from the one that has it; of the same epoch there is one. */
function mayTake({ epoch }: Grant, { hold }: LiveSession): boolean {
  return hold !== null && epoch !== null && epoch > hold.epoch
}

/** The records give the call to this stream, and the session begins, or goes on with it. */
async function begin(
  deps: JoinDeps,
  joining: Joining,
  entering: Entering & { beginning: Beginning; here: LiveSession | null },
): Promise<StreamLeg> {
  const { builder } = deps
  if (!builder) throw new StreamRefusal(TRY_AGAIN, 'no realtime model is configured')
  const { grant, tenant, agent, beginning, here } = entering
  const { callSid } = grant
  const epoch = grant.epoch ?? (await openedEpoch(deps, tenant, newCall(grant, agent)))
  const abandon = () => deps.abandon({ tenantId: tenant.tenant_id, callSid, epoch, isOver: beginning.isOver })
  const stream = { callSid, epoch, streamSid: joining.start.streamSid, ...builder.modelOf(tenant, agent) }
  try {
    expectThere(joining)
    here?.hold?.expect(epoch)
    const started = await deps.sessions.started(tenant, stream)
    // Nothing is waited for from here to the end: whatever else happens to the call finds its session.
    const isHere = here !== null && isNewest(here, started)
    here?.hold?.settle(isHere ? stream.streamSid : null)
    expectThere(joining)
    const call = started && streamedCall(deps, joining, { ...entering, epoch, started })
    if (call && isHere && !here.isLetGo) return goOn(deps, here, call)
    if (call && !beginning.isOver)
      return beginAnew(deps, builder, { call, here, isMachine: beginning.isMachine || isMachine(started.answeredBy) })
  } catch (error) {
    // A carrier asks what comes next for its call, and tells its end: with that the session ends too.
    if (grant.direction === 'browser' || beginning.isOver) abandon()
    throw error
  }
  if (beginning.isOver) abandon()
  throw new StreamRefusal(POLICY, 'the call is over, or another stream has it')
}

/** @throws StreamRefusal for a call that was there before: an internal client takes none over. */
async function openedEpoch({ sessions }: JoinDeps, tenant: TenantRuntime, call: NewCall): Promise<number> {
  const { epoch, isNew } = await sessions.open(tenant, call)
  if (!isNew) throw new StreamRefusal(POLICY, 'the call began elsewhere')
  return epoch
}

function roomOf({ tenant_id: tenantId, limits }: TenantRuntime) {
  return { tenantId, maxConcurrentCalls: limits.max_concurrent_calls }
}

/** Whether no other process has had the call since the session that is here. */
function isNewest({ facts }: LiveSession, started: StartedSession | null): boolean {
  return started?.before?.streamSid === facts.streamSid
}

/** One that is here and has not seen the latest of the call is gone before. */
function beginAnew(
  deps: JoinDeps,
  builder: SessionBuilder,
  { call, here, isMachine }: { call: StreamedCall; here: LiveSession | null; isMachine: boolean },
): StreamLeg {
  here?.command({ type: 'taken' })
  deps.capacity.begin({ ...roomOf(call.tenant), callSid: call.callSid })
  return beginSession(deps, builder, { call, isMachine })
}

/** The session goes on with the stream. @throws StreamRefusal when it is ending: its end counts for the stream, too. */
function goOn(deps: JoinDeps, here: LiveSession, call: StreamedCall): StreamLeg {
  const { tenant, callSid, streamSid } = call
  deps.live.renamed(here)
  const leg = here.hold?.attach(call)
  if (!leg) throw new StreamRefusal(POLICY, 'the call is ending')
  deps.log.info({ tenant_id: tenant.tenant_id, call_sid: callSid, stream_sid: streamSid }, 'call goes on')
  return leg
}

function beginSession(
  deps: JoinDeps,
  builder: SessionBuilder,
  { call, isMachine }: { call: StreamedCall; isMachine: boolean },
): StreamLeg {
  const { tenant, callSid, streamSid, direction } = call
  const { session, live } = builder.build(call, (ended) => {
    deps.capacity.release({ tenantId: tenant.tenant_id, callSid })
    // Whoever has the call now writes its end.
    if (ended.state.isLetGo) deps.live.letGo(live)
    else deps.live.remove(live, ended.reason, deps.finish(ended))
  })
  deps.live.add(live)
  session.dispatch({ type: 'opened' })
  if (isMachine) session.dispatch({ type: 'machine' })
  deps.log.info({ tenant_id: tenant.tenant_id, call_sid: callSid, stream_sid: streamSid, direction }, 'call began')
  return session.leg()
}

function greetedBy(agent: ResolvedAgent, greeting: string | null): ResolvedAgent {
  return greeting === null ? agent : { ...agent, config: { ...agent.config, greeting } }
}

function streamedCall(
  deps: JoinDeps,
  { start, socket, codec }: Joining,
  { grant, tenant, agent: own, prompt, epoch, started }: Entering & { epoch: number; started: StartedSession },
): StreamedCall {
  const { callSid, direction } = grant
  const carrier = {
    send: (parts: Parts) => socket.send(parts),
    sendAll: (messages: readonly Parts[]) => socket.sendAll(messages),
    bufferedBytes: () => socket.bufferedBytes(),
    close: () => closeBehind(deps, { tenant, callSid }, () => socket.close(NORMAL)),
  }
  const agent = greetedBy(own, started.greeting)
  const who = { tenant, agent, prompt, callSid, streamSid: start.streamSid, direction }
  return { ...who, ...started, epoch, codec, carrier }
}

/**
 * A carrier goes on with a call whose stream was closed, and would ask for more while our request to end it is still on its
 * way: the stream stays open until that was answered, or is given up.
 */
function closeBehind(
  { clock, carrierCalls }: JoinDeps,
  { tenant, callSid }: Pick<StreamedCall, 'tenant' | 'callSid'>,
  close: () => void,
): void {
  const late = () => new Error('the carrier does not answer')
  withTimeout(clock, carrierCalls.answered(tenant, callSid), ANSWERED_WITHIN_MS, late).then(close, close)
}

/** What is kept of a call that no carrier brought. */
function newCall({ callSid, direction }: Grant, agent: ResolvedAgent): NewCall {
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

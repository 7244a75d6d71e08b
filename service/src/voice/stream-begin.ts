import type { Clip } from '../agents/clips.ts'
import type { ResolvedAgent } from '../agents/resolve.ts'
import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId } from '../kernel/ids.ts'
import type { FrameSocket } from '../platform/http/frame-socket.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import type { Parts } from '../platform/websocket/frames.ts'
import { machineOf } from '../records/answered-by.ts'
import type { NewCall, Sessions, StartedSession } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamLeg } from './call-streams.ts'
import type { Beginning, LiveSession } from './live-sessions.ts'
import { type StartedAt, StreamRefusal, type StreamStart } from './media-stream.ts'
import type { SessionBuilder } from './session-builder.ts'
import { longestOf } from './session-builder-plan.ts'
import type { AbandonedCall, CarrierAnswers } from './stream-ends.ts'
import type { Grant } from './stream-grant.ts'
import { beginAnew, goOn, isNewest, POLICY, type StreamSessionDeps, TRY_AGAIN } from './stream-session.ts'
import type { StreamedCall } from './streamed-call.ts'
import type { Tool } from './tools/tool.ts'

/** A stream that is being let in. */
export type BeginningStream = {
  start: StreamStart
  startedAt: StartedAt
  socket: FrameSocket
  codec: StreamCodec
  /** Aborts when the stream is over before it was let in, or takes too long: no session may begin any more. */
  signal: AbortSignal
}

/** What a stream has shown that it may have. */
export type Entitled = {
  grant: Grant
  tenant: TenantRuntime
  agent: ResolvedAgent
  prompt: string | null
  /** Those of the tenant's own tools that the agent may use. */
  tools: readonly Tool[]
  /** What the agent says first, spoken ahead, as its version has it. */
  clips: readonly Clip[]
}

export type BeginDeps = StreamSessionDeps & {
  nodeId: NodeId
  sessions: Sessions
  /** Null without a model. */
  builder: SessionBuilder | null
  clock: Clock
  carrierCalls: Pick<CarrierAnswers, 'answered'>
  /** Writes down the end of a call whose stream got it and then could not begin; never throws. */
  abandon(abandoned: AbandonedCall): void
}

const NORMAL = 1000

/** How long a stream is left open for its carrier's answer to the request to end the call. */
const ANSWERED_WITHIN_MS = 5_000

/** @throws StreamRefusal, which nobody hears, when the stream is over or was given up. */
export function expectThere({ signal }: BeginningStream): void {
  if (signal.aborted) throw new StreamRefusal(TRY_AGAIN, 'the stream is over')
}

/**
 * The records give the call to this stream, and the session begins, or goes on with it.
 *
 * @throws StreamRefusal when it may not, or cannot now.
 */
export async function begin(
  deps: BeginDeps,
  joining: BeginningStream,
  entering: Entitled & { beginning: Beginning; here: LiveSession | null },
): Promise<StreamLeg> {
  const { builder } = deps
  if (!builder) throw new StreamRefusal(TRY_AGAIN, 'no realtime model is configured')
  const { grant, tenant, agent, beginning, here } = entering
  const { callSid } = grant
  const epoch =
    grant.epoch ?? (await openedEpoch(deps, tenant, { call: newCall(grant, agent), at: joining.startedAt.date }))
  const abandon = () => deps.abandon({ tenantId: tenant.tenant_id, callSid, epoch, isOver: beginning.isOver })
  const wantsExtraction = agent.config.extraction !== null
  const maxCallSeconds = longestOf(tenant, agent.config)
  const stream = {
    ...{ callSid, epoch, streamSid: joining.start.streamSid, wantsExtraction, maxCallSeconds },
    at: joining.startedAt.date,
    ...builder.modelOf(tenant, agent),
  }
  try {
    expectThere(joining)
    const expected = here?.hold?.expect({ epoch, owner: deps.nodeId })
    const started = await deps.sessions.started(tenant, stream)
    // Nothing is waited for from here to the end: whatever else happens to the call finds its session.
    const isHere = here !== null && isNewest(here, started)
    if (isHere) expected?.came(stream.streamSid)
    else expected?.failed()
    expectThere(joining)
    const call = started && streamedCall(deps, joining, { ...entering, epoch, started })
    if (call && isHere && !here.isLetGo) {
      if (grant.notThrough) here.command({ type: 'transfer_failed', why: grant.notThrough })
      return goOn(deps, here, call)
    }
    if (call && !beginning.isOver)
      return beginAnew(deps, builder, { call, here, machine: beginning.machine ?? machineOf(started.answeredBy) })
  } catch (error) {
    // A carrier asks what comes next for its call, and tells its end: with that the session ends too.
    // A session that is here, or was until just now, writes its end itself.
    const isEndless = deps.live.callHere(callSid) === null
    if (isEndless && (grant.direction === 'browser' || beginning.isOver)) abandon()
    throw error
  }
  if (beginning.isOver) abandon()
  throw new StreamRefusal(POLICY, 'the call is over, or another stream has it')
}

/** @throws StreamRefusal for a call that was there before: an internal client takes none over; and when there is no room for it. */
async function openedEpoch(
  { sessions }: BeginDeps,
  tenant: TenantRuntime,
  { call, at }: { call: NewCall; at: Date },
): Promise<number> {
  const { epoch, isNew } = await sessions.open(tenant, call, at).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'tenant_busy')) throw error
    throw new StreamRefusal(TRY_AGAIN, 'there is no room for the call')
  })
  if (!isNew) throw new StreamRefusal(POLICY, 'the call began elsewhere')
  return epoch
}

function streamedCall(
  deps: BeginDeps,
  { start, startedAt, socket, codec }: BeginningStream,
  {
    grant,
    tenant,
    agent: own,
    prompt,
    tools,
    clips,
    epoch,
    started,
  }: Entitled & { epoch: number; started: StartedSession },
): StreamedCall {
  const { callSid, direction, notThrough } = grant
  const carrier = {
    send: (parts: Parts) => socket.send(parts),
    sendAll: (messages: readonly Parts[]) => socket.sendAll(messages),
    bufferedBytes: () => socket.bufferedBytes(),
    close: () => closeBehind(deps, { tenant, callSid }, () => socket.close(NORMAL)),
  }
  const agent = greetedBy(own, started.greeting)
  const who = { tenant, agent, prompt, tools, clips, callSid, streamSid: start.streamSid, direction }
  return { ...who, ...started, streamAtMs: startedAt.monotonicMs, epoch, notThrough, codec, carrier }
}

/** What an agent does when a machine answers. */
export type MachineAction = 'hang_up' | 'leave_message'

/** The agent as it is to act on a machine; null: as it does. The message is its own: one that leaves none hangs up. */
export function onMachine(agent: ResolvedAgent, wanted: MachineAction | null): ResolvedAgent {
  if (wanted !== 'hang_up') return agent
  return { ...agent, config: { ...agent.config, voicemail: { action: 'hang_up' } } }
}

/** The agent with another greeting than its own, or as it is. */
export function greetedBy(agent: ResolvedAgent, greeting: string | null): ResolvedAgent {
  return greeting === null ? agent : { ...agent, config: { ...agent.config, greeting } }
}

/**
 * A carrier goes on with a call whose stream was closed, and would ask for more while our request to end it is still on its
 * way: the stream stays open until that was answered, or is given up.
 */
function closeBehind(
  { clock, carrierCalls }: BeginDeps,
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

import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { type AgentVersionId, type NodeId, newId, type TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { Answered } from './answered-by.ts'
import { BeginningTurns } from './beginning-turns.ts'
import { type DirectoryRow, setOwner } from './call-directory-store.ts'
import { type CallHolder, isHeldBy } from './call-holder.ts'
import { type AgentOfCall, type CallRecord, type SessionProgress, withProgress, withStream } from './call-record.ts'
import { keepPromise } from './call-resume-store.ts'
import { isOver } from './call-status.ts'
import { type EnteredCall, insertCall, lockRecord } from './call-store.ts'
import { type CallDirection, LONGEST_LIVE_MS, type SessionId } from './call-values.ts'
import { changeCall } from './change-call.ts'
import { countLiveCalls, lockBeginnings } from './live-call-store.ts'
import { LOST_AFTER_MS } from './open-call-store.ts'
import { type SpentToday, spentToday } from './spent-today.ts'
import { type FunctionCallRow, listFunctionCalls, listTurns, type TurnRow } from './transcript-store.ts'
import type { StoredLatency, StoredUsage } from './voice-session-store.ts'

/** A call that comes in or was placed. */
export type NewCall = {
  callSid: string
  direction: CallDirection
  from: string
  to: string
  /** Null: the tenant's own. */
  orgId: string | null
  /** Who is to speak. */
  agent: AgentOfCall
  metadata: Record<string, unknown>
  /** Said first in place of the agent's own; null, or not given, for that. */
  greeting?: string | null
  /** What the tenant's other calls have taken of its day, by who has asked just now; null, or not given: asked when its stream begins. */
  spentToday?: SpentToday | null
  /** The person who asks for it; null, or not given, for nobody. */
  placedBy?: string | null
}

/** The session of a call. `agentKey` and `agentVersionId` are those it was opened with. */
export type OpenedSession = {
  sessionId: SessionId
  /** What the stream that may have the call now must carry. */
  epoch: number
  isNew: boolean
  /** Nothing more can come of it: hang up. */
  isOver: boolean
  /** What its log has. */
  errorCode: string | null
  agentKey: string | null
  agentVersionId: AgentVersionId | null
}

/** A stream that wants a call. `model` and `voice` are what its session will run with, null for the driver's default. */
export type NewStream = {
  callSid: string
  epoch: number
  streamSid: string
  /** When it began; not given: now. */
  at?: Date
  model: string | null
  voice: string | null
  /** Whether something is to be taken from the conversation when it is over. Default: nothing. */
  wantsExtraction?: boolean
  /** How long a call may last that begins with it. Default: that is not known. */
  maxCallSeconds?: number
}

/** The session that a stream was given, and whose call it is. `before`: what an earlier stream of the call has left. */
export type StartedSession = {
  sessionId: SessionId
  /** From which the transcript's milliseconds count. */
  startedAt: Date
  from: string
  to: string
  orgId: string | null
  metadata: Record<string, unknown>
  /** Said first in place of the agent's own; null for that. */
  greeting: string | null
  /** What the carrier took the answering party for, where that is known by now. */
  answeredBy: string | null
  /** What the tenant's other calls had taken of its day when this one began; null where its document does not bound that. */
  spentToday: SpentToday | null
  /** How long the call may last, whoever has it by now; null where that is not known. */
  maxCallSeconds: number | null
  before: EarlierStream | null
}

/** A tool that was called, and how that ended. */
export type EarlierToolCall = Pick<FunctionCallRow, 'name' | 'status'>

/** What is stored of a conversation that another stream goes on with. */
export type EarlierStream = {
  startedAt: Date
  streamSid: string | null
  turns: TurnRow[]
  /** In their order. */
  toolCalls: FunctionCallRow[]
  /** Its agent has paused the recording, and not gone on with it. */
  isRecordingPaused: boolean
  /** Whom it was escalated to; null where it was not. */
  escalation: { target: string | null } | null
  /** Who or what answered, in a call that was placed. */
  answered: Answered
  latency: StoredLatency
  usage: StoredUsage
  /** In USD; null where nothing is stored of it. */
  costUsd: number | null
}

/** The beginnings of voice sessions. */
export type Sessions = {
  /**
   * Opens the session of a call, with its log entry (ringing) and its place in the directory. A repeat, also at the same
   * time and on another node, changes nothing and returns the same session. Under the tenant's limit of calls at once, others
   * that begin a call for it wait for this. `at`: since when it is known; not given: now.
   *
   * @throws AppError `not_found` for a tenant that was deleted, `conflict` when the call is another tenant's, `tenant_busy` when the
   * tenant has as many other calls, on all nodes together, as it may have: nothing is written then.
   */
  open(tenant: TenantRuntime, call: NewCall, at?: Date): Promise<OpenedSession>
  /**
   * The session of a call whose stream has not begun; null for one that has, or is over, and for a call that the tenant does
   * not have.
   */
  unbegun(tenant: TenantRuntime, callSid: string): Promise<OpenedSession | null>
  /**
   * Gives a call to a stream on this node: it is in progress from now on, and its tenant is told so. The same stream may ask
   * again. A stream of the epoch that follows takes the call from the one that has it, on whatever node, and raises the epoch
   * by that: what the other still writes counts for nothing.
   *
   * @returns the session; null when the stream cannot have it: the call is unknown or over, another stream has it, or the
   * stream's epoch is past.
   */
  started(tenant: TenantRuntime, stream: NewStream): Promise<StartedSession | null>
  /** Writes down what a session has come to so far, unless its stream has lost the call to another. */
  progressed(tenant: TenantRuntime, stream: StreamProgress): Promise<void>
}

/** What the session of a stream has come to so far. */
export type StreamProgress = CallHolder & { callSid: string; progress: SessionProgress }

/** A call that was not entered just now. `isFull`: it was not tried, because there is no room for another one. */
type NotEntered = { callSid: string; isFull: boolean }

const NO_LATENCY = { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 }
const NO_USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 }

type Deps = {
  db: Db
  clock: Clock
  nodeId: NodeId
  /** How long a call that was answered has for its stream to begin. */
  beginWithinMs?: number
}

const BEGIN_WITHIN_MS = 120_000

export function makeSessions({ db, clock, nodeId, beginWithinMs = BEGIN_WITHIN_MS }: Deps): Sessions {
  const turns = new BeginningTurns()

  async function open(tenant: TenantRuntime, call: NewCall, at?: Date): Promise<OpenedSession> {
    const record = newRecord(tenant, call, at ?? new Date(clock.now()))
    const lookAt = new Date(clock.now() + beginWithinMs + LOST_AFTER_MS)
    const { max_concurrent_calls: maxCalls } = tenant.limits
    const entered =
      maxCalls === null
        ? await insertCall(db, { record, lookAt })
        : await turns.inTurn(tenant.tenant_id, () =>
            db.transaction().execute((tx) => enterWithin(tx, maxCalls, { record, lookAt })),
          )
    if (entered && entered !== 'full') return opened(entered, record, true)
    const isFull = entered === 'full'
    return db.transaction().execute((tx) => knownIn(tx, tenant.tenant_id, { callSid: call.callSid, isFull }))
  }

  async function enterWithin(tx: Tx, maxCalls: number, entering: EnteredCall): Promise<DirectoryRow | 'full' | null> {
    const { tenant_id: tenantId, call_sid: exceptCallSid } = entering.record.session
    await lockBeginnings(tx, tenantId)
    const since = new Date(clock.now() - LONGEST_LIVE_MS)
    const calls = await countLiveCalls(tx, tenantId, { since, exceptCallSid })
    return calls < maxCalls ? insertCall(tx, entering) : 'full'
  }

  async function knownIn(tx: Tx, tenantId: TenantId, { callSid, isFull }: NotEntered): Promise<OpenedSession> {
    await holdKnownTenant(tx, tenantId)
    const known = await lockRecord(tx, tenantId, callSid)
    if (known) return opened(known.call, known.before, false)
    if (isFull) throw new AppError('tenant_busy', 'There are as many calls now as limits.max_concurrent_calls allows.')
    throw new AppError('conflict', 'The call belongs to another tenant.')
  }

  async function unbegunIn(tx: Tx, tenant: TenantRuntime, callSid: string): Promise<OpenedSession | null> {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked || locked.before.session.started_at !== null) return null
    const found = opened(locked.call, locked.before, false)
    return found.isOver ? null : found
  }

  async function startIn(tx: Tx, tenant: TenantRuntime, stream: NewStream): Promise<StartedSession | null> {
    const locked = await lockRecord(tx, tenant.tenant_id, stream.callSid)
    if (!locked) return null
    const { call, before } = locked
    const isNext = call.owner !== null && stream.epoch === call.epoch + 1
    if (!(isNext || call.epoch === stream.epoch)) return null
    const { log, session } = before
    if (isOver(log.status) || session.ended_at !== null) return null
    const now = new Date(clock.now())
    const daySpent = session.day_spent ?? (await spentToday(tx, tenant, { now, exceptCallSid: stream.callSid }))
    const begun = withStream(before, { ...stream, daySpent, at: stream.at ?? now })
    const startedAt = begun.session.started_at ?? now
    const { max_call_seconds: maxCallSeconds } = begun.session
    const found = await foundIn(tx, before, { spentToday: daySpent, startedAt, maxCallSeconds })
    if (call.owner !== null && !isNext)
      return call.owner === nodeId && session.stream_sid === stream.streamSid ? found : null
    await setOwner(tx, tenant.tenant_id, stream.callSid, { owner: nodeId, epoch: stream.epoch })
    await keepPromise(tx, tenant.tenant_id, stream.callSid)
    await changeCall(tx, tenant, { ...locked, now, change: () => begun })
    return found
  }

  async function progressIn(tx: Tx, tenant: TenantRuntime, { callSid, progress, ...holder }: StreamProgress) {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked || !isHeldBy(locked.call, holder)) return
    const change = (record: CallRecord) => withProgress(record, progress)
    await changeCall(tx, tenant, { ...locked, now: new Date(clock.now()), change })
  }

  return {
    progressed: (tenant, stream) => db.transaction().execute((tx) => progressIn(tx, tenant, stream)),
    open,
    unbegun: (tenant, callSid) => db.transaction().execute((tx) => unbegunIn(tx, tenant, callSid)),
    started: (tenant, stream) => db.transaction().execute((tx) => startIn(tx, tenant, stream)),
  }
}

async function foundIn(
  tx: Tx,
  record: CallRecord,
  begun: Pick<StartedSession, 'spentToday' | 'startedAt' | 'maxCallSeconds'>,
): Promise<StartedSession> {
  const { log, session } = record
  const { id: sessionId, from, to, org_id: orgId, metadata, greeting } = session
  return {
    sessionId,
    ...begun,
    from,
    to,
    orgId,
    metadata,
    greeting,
    answeredBy: log.answered_by,
    before: await earlierIn(tx, record),
  }
}

async function earlierIn(tx: Tx, { log, session }: CallRecord): Promise<EarlierStream | null> {
  const { tenant_id, id, started_at: startedAt, stream_sid: streamSid, latency, usage, cost_usd: costUsd } = session
  if (startedAt === null) return null
  const turns = await listTurns(tx, tenant_id, id)
  const toolCalls = await listFunctionCalls(tx, tenant_id, id)
  const isRecordingPaused = isPausedAfter(toolCalls)
  const escalation = log.escalated ? { target: log.escalation_target } : null
  const { answered_by, answered_by_source } = log
  const left = { startedAt, streamSid, turns, toolCalls, isRecordingPaused, escalation, latency, usage, costUsd }
  return { ...left, answered: { answered_by, answered_by_source } }
}

/** By the tool's last answer, which is worded by us. */
function isPausedAfter(called: readonly FunctionCallRow[]): boolean {
  const last = called.findLast(({ name, status }) => name === 'pause_recording' && status === 'ok')
  return last?.result.includes('"paused":true') ?? false
}

function opened(entry: DirectoryRow, { log, session }: CallRecord, isNew: boolean): OpenedSession {
  return {
    sessionId: entry.session_id,
    epoch: entry.epoch,
    isNew,
    isOver: isOver(log.status) || session.ended_at !== null,
    errorCode: log.error_code,
    agentKey: session.agent_key,
    agentVersionId: session.agent_version_id,
  }
}

/** What is known of a call when it begins. */
export function newRecord(tenant: TenantRuntime, { agent, ...call }: NewCall, now: Date): CallRecord {
  const sessionId = newId<SessionId>(now.getTime())
  const both = {
    tenant_id: tenant.tenant_id,
    call_sid: call.callSid,
    stream_sid: null,
    org_id: call.orgId ?? tenant.org_id,
    direction: call.direction,
    from: call.from,
    to: call.to,
    agent_key: agent.agentKey,
    agent_name: agent.agentName,
    agent_version_id: agent.versionId,
    version_number: agent.versionNumber,
    created_at: now,
    ended_at: null,
    duration_seconds: null,
    metadata: call.metadata,
  }
  return {
    log: {
      ...both,
      id: newId<string>(now.getTime()),
      status: 'ringing',
      status_at: now,
      voice_session_id: sessionId,
      callback_task_id: null,
      campaign_id: null,
      placed_by: call.placedBy ?? null,
      canceled_by: null,
      started_at: now,
      answered_at: null,
      answered_by: null,
      answered_by_source: null,
      escalated: false,
      escalation_target: null,
      summary: null,
      error_code: null,
      error_message: null,
      cost_usd: null,
    },
    session: {
      ...both,
      id: sessionId,
      call_status: 'ringing',
      model: null,
      voice: null,
      audio_output_provider: tenant.audio_output.provider,
      started_at: null,
      end_reason: null,
      resumed_count: 0,
      latency: NO_LATENCY,
      usage: NO_USAGE,
      cost_usd: null,
      day_spent: call.spentToday ?? null,
      max_call_seconds: null,
      tags: [],
      outcome: null,
      outcome_notes: null,
      has_recording: false,
      greeting: call.greeting ?? null,
      qa: null,
      qa_status: null,
      qa_reason: null,
      summary: null,
      extraction: null,
      extraction_status: null,
      extraction_reason: null,
      completion_held: false,
    },
  }
}

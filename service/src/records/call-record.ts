import type { AgentVersionId } from '../kernel/ids.ts'
import { roundedUsd } from '../platform/realtime/price.ts'
import { type Answered, joinAnswered } from './answered-by.ts'
import type { CallLogRow } from './call-log-store.ts'
import { isOver, joinSightings } from './call-status.ts'
import { type CallStatus, type SessionEndReason, STREAM_LOST, STREAM_LOST_REASON } from './call-values.ts'
import type { SpentToday } from './spent-today.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

/** Both sides of what remains of a call. Every function here returns a new one and reads no clock. */
export type CallRecord = { log: CallLogRow; session: VoiceSessionRow }

/** What was learned of a call, from its carrier or here. Null is what was not said. */
export type CallReport = {
  status: CallStatus | null
  /** When it was so. */
  at: Date
  durationSeconds: number | null
  answeredBy: string | null
  errorCode: string | null
  errorMessage: string | null
}

/** A stream that begins: with it the call is answered. */
export type StreamStart = {
  streamSid: string
  model: string | null
  voice: string | null
  /** Whether something is to be taken from the conversation when it is over. Default: nothing. */
  wantsExtraction?: boolean
  /** How long a call may last that begins with it. Default: that is not known. */
  maxCallSeconds?: number
  /** What the tenant's other calls had taken of its day when the call began. Default: nobody counts. */
  daySpent?: SpentToday | null
  at: Date
}

/**
 * What a session has come to, from the beginning of its call: one that goes on from another counts on from what that had
 * stored, so what is written later is never less. Null latencies are of what never happened.
 */
export type SessionProgress = {
  latency: {
    greetingMs: number | null
    responseP50Ms: number | null
    responseP95Ms: number | null
    interruptions: number
    /** All answers of the call of which it is known how long they took, as `packTimes` writes them. */
    responseTimes?: string | null
  }
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number; audioSeconds: number }
  /** A process was lost with a part of what was used: `usage` is without that. Default: it is all there. */
  isPartial?: boolean
  /** In USD; null where a part of it has no known price. Not given: nothing new is known of it. */
  costUsd?: number | null
  /** Who speaks by then: another model may have taken the place of the first, and the model's voice that of a second one. Not given: as it began. */
  spoken?: { model: string | null; voice: string | null; audioOutput: 'primary' | 'secondary' }
  /** Who or what we take the answering party for; not given: nothing is known of it here. */
  answered?: Answered
  /** Who has the call from now on, where it was handed to another agent. */
  handedTo?: HandedTo | null
}

/** An agent as calls name it; the key and the version are null of a tenant document's own. */
export type AgentOfCall = {
  agentKey: string | null
  agentName: string
  versionId: AgentVersionId | null
  versionNumber: number | null
}

/** The agent to whom a call was handed, and whether its version wants something of the conversation when it is over. */
export type HandedTo = AgentOfCall & { wantsExtraction: boolean }

/** How a session ended. */
export type SessionEnd = SessionProgress & { endReason: SessionEndReason; at: Date }

/** A report that says no more than the status, or not even that. */
export function statusReport(status: CallStatus | null, at: Date): CallReport {
  return { status, at, durationSeconds: null, answeredBy: null, errorCode: null, errorMessage: null }
}

/** Whether nothing more is to be told of the call: it is over, and so is its session. */
export function isComplete({ log, session }: CallRecord): boolean {
  return isOver(log.status) && session.ended_at !== null
}

/** Adds a report. The same reports give the same record in any order and however often each of them comes. */
export function withReport({ log, session }: CallRecord, report: CallReport): CallRecord {
  const { status, durationSeconds, answeredBy, errorCode, errorMessage } = report
  const known: CallLogRow = {
    ...log,
    ...(status === null ? {} : sighted(log, status, report.at)),
    duration_seconds: durationSeconds ?? log.duration_seconds,
    ...joinAnswered(log, { answered_by: answeredBy, answered_by_source: answeredBy === null ? null : 'carrier' }),
    error_code: errorCode ?? log.error_code,
    error_message: errorMessage ?? log.error_message,
  }
  return { log: known, session: { ...session, call_status: known.status } }
}

const STARTED: CallStatus[] = ['initiated', 'ringing', 'in-progress']

function sighted(log: CallLogRow, status: CallStatus, reportedAt: Date): Partial<CallLogRow> {
  // The carrier's clock is not ours: nothing of a call happens before it is known.
  const at = later(reportedAt, log.created_at)
  const stands = joinSightings({ status: log.status, at: log.status_at }, { status, at })
  const answeredAt = status === 'in-progress' ? earlier(log.answered_at, at) : log.answered_at
  return {
    status: stands.status,
    status_at: stands.at,
    started_at: STARTED.includes(status) ? earlier(log.started_at, at) : log.started_at,
    answered_at: answeredAt,
    // A clock may be set back in the middle of a call.
    ended_at: isOver(stands.status) ? later(stands.at, answeredAt ?? stands.at) : null,
  }
}

/** Adds the beginning of a stream; a further one goes on with the session. With the first, why nobody talked is not so any more. */
export function withStream(record: CallRecord, stream: StreamStart): CallRecord {
  const { streamSid, model, voice, wantsExtraction = false, maxCallSeconds = null, daySpent = null, at } = stream
  const { log, session } = withReport(record, statusReport('in-progress', at))
  const isFurther = session.started_at !== null
  return {
    log: { ...log, stream_sid: streamSid, ...(!isFurther && { error_code: null, error_message: null }) },
    session: {
      ...session,
      stream_sid: streamSid,
      started_at: session.started_at ?? later(at, session.created_at),
      resumed_count: session.resumed_count + (isFurther ? 1 : 0),
      model,
      voice,
      day_spent: session.day_spent ?? daySpent,
      max_call_seconds: session.max_call_seconds ?? maxCallSeconds,
      extraction_status: session.extraction_status ?? (wantsExtraction ? 'pending' : null),
    },
  }
}

/** Adds what a session that goes on has come to so far: somebody else may have to go on from there. */
export function withProgress({ log, session }: CallRecord, progress: SessionProgress): CallRecord {
  if (session.ended_at !== null) return { log, session }
  const agent = agentOf(progress)
  const wanted = wantedOf(session, progress)
  const answered = answeredOf(log, progress)
  return {
    log: { ...log, ...agent, ...answered },
    session: { ...session, ...agent, ...wanted, ...stored(session, progress) },
  }
}

function answeredOf(log: CallLogRow, { answered }: SessionProgress): Partial<Answered> {
  return answered ? joinAnswered(log, answered) : {}
}

/** What is to be taken from a conversation, whoever has it last says. */
function wantedOf({ extraction_status }: VoiceSessionRow, { handedTo = null }: SessionProgress) {
  if (handedTo === null) return { extraction_status }
  return { extraction_status: handedTo.wantsExtraction ? ('pending' as const) : null }
}

/** A call is known by the agent who had it last. */
function agentOf({ handedTo = null }: SessionProgress) {
  if (handedTo === null) return {}
  const { agentKey, agentName, versionId, versionNumber } = handedTo
  return {
    agent_key: agentKey,
    agent_name: agentName,
    agent_version_id: versionId,
    version_number: versionNumber,
  }
}

/** Where a session that went on from another has none of its own, the other's answer times stand. */
function stored(
  before: VoiceSessionRow,
  { latency, usage, costUsd, spoken, isPartial = before.usage.is_partial ?? false }: SessionProgress,
): Pick<VoiceSessionRow, 'latency' | 'usage' | 'cost_usd' | 'model' | 'voice' | 'audio_output_provider'> {
  const times = latency.responseTimes ?? before.latency.response_times
  return {
    model: spoken ? spoken.model : before.model,
    voice: spoken ? spoken.voice : before.voice,
    audio_output_provider: spoken?.audioOutput ?? before.audio_output_provider,
    cost_usd: costStored(before.cost_usd, costUsd),
    latency: {
      greeting_ms: whole(latency.greetingMs) ?? before.latency.greeting_ms,
      response_p50_ms: whole(latency.responseP50Ms) ?? before.latency.response_p50_ms,
      response_p95_ms: whole(latency.responseP95Ms) ?? before.latency.response_p95_ms,
      interruptions: Math.max(latency.interruptions, before.latency.interruptions),
      ...(times !== undefined && { response_times: times }),
    },
    usage: {
      input_tokens: Math.max(usage.inputTokens, before.usage.input_tokens),
      output_tokens: Math.max(usage.outputTokens, before.usage.output_tokens),
      cached_tokens: Math.max(usage.cachedTokens, before.usage.cached_tokens),
      audio_seconds: Math.max(toMs(usage.audioSeconds), before.usage.audio_seconds),
      ...(isPartial && { is_partial: true }),
    },
  }
}

/** Adds the end of the session; the first one stands. */
export function withSessionEnd({ log, session }: CallRecord, { endReason, at, ...progress }: SessionEnd): CallRecord {
  if (session.ended_at !== null) return { log, session }
  const endedAt = later(at, session.started_at ?? session.created_at)
  const spokenMs = session.started_at === null ? 0 : endedAt.getTime() - session.started_at.getTime()
  const came = stored(session, progress)
  const agent = agentOf(progress)
  const wanted = wantedOf(session, progress)
  return {
    log: { ...log, ...agent, ...answeredOf(log, progress), ...lossOf(log, endReason), cost_usd: came.cost_usd },
    session: {
      ...session,
      ...agent,
      ...wanted,
      ended_at: endedAt,
      duration_seconds: Math.round(spokenMs / 1_000),
      end_reason: endReason,
      ...(session.started_at === null
        ? { qa_status: 'not_scored' as const, qa_reason: whyNotBegun(log) }
        : { qa_status: 'pending' as const }),
      completion_held: wanted.extraction_status === 'pending',
      ...came,
    },
  }
}

/** What its carrier, or anybody else, has said of a call says more than that its stream was lost. */
function lossOf(log: CallLogRow, endReason: SessionEndReason): Partial<CallLogRow> {
  if (endReason !== 'carrier_lost' || log.error_code !== null) return {}
  return { error_code: STREAM_LOST, error_message: log.error_message ?? STREAM_LOST_REASON }
}

/** Why nobody talked with the agent, in a sentence, of a call whose session never had a stream. A carrier may have answered it all the same. */
export function whyNotBegun({ status, answered_at }: Pick<CallLogRow, 'status' | 'answered_at'>): string {
  const isAnswered = answered_at !== null || status === 'completed'
  return isAnswered
    ? 'The call was answered, but no conversation with the agent began in it.'
    : 'The call was not answered.'
}

/** What came of an extraction: the object, or why there is none, in a sentence. */
export type ExtractionOutcome = { extraction: Record<string, unknown> } | { missing: string }

/** Adds what was taken from the conversation, which is told with its end; a session that waits for none stays as it is. */
export function withExtraction({ log, session }: CallRecord, outcome: ExtractionOutcome): CallRecord {
  if (session.extraction_status !== 'pending') return { log, session }
  const found = 'extraction' in outcome
  return withTold({
    log,
    session: {
      ...session,
      extraction: found ? outcome.extraction : null,
      extraction_status: found ? 'filled' : 'missing',
      extraction_reason: found ? null : outcome.missing,
    },
  })
}

/** The end of the session is told now, if it was held back. */
export function withTold({ log, session }: CallRecord): CallRecord {
  return session.completion_held ? { log, session: { ...session, completion_held: false } } : { log, session }
}

/**
 * What is known late of an end that was taken for the loss of its process: how it came about, and what the session came to. When
 * it was stands.
 */
export function withTrueEnd({ log, session }: CallRecord, { endReason, at: _at, ...progress }: SessionEnd): CallRecord {
  if (session.end_reason !== 'process_lost') return { log, session }
  const came = stored(session, progress)
  const agent = agentOf(progress)
  return {
    log: { ...log, ...agent, ...answeredOf(log, progress), ...lossOf(log, endReason), cost_usd: came.cost_usd },
    session: { ...session, ...agent, end_reason: endReason, ...came },
  }
}

function costStored(before: number | null, costUsd: number | null | undefined): number | null {
  if (costUsd === undefined || costUsd === null) return costUsd === null ? null : before
  return Math.max(roundedUsd(costUsd), before ?? 0)
}

/** Sums of seconds have more digits than they mean. */
function toMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}

function earlier(known: Date | null, at: Date): Date {
  return known !== null && known <= at ? known : at
}

function later(at: Date, bound: Date): Date {
  return at >= bound ? at : bound
}

import { type Static, Type } from 'typebox'
import { othersFirst } from '../kernel/clock.ts'
import { isoOrNull, nullable, Timestamp } from '../platform/http/schemas.ts'
import { serializerOf } from '../platform/http/serialization.ts'
import { CALL_DIRECTIONS, END_REASONS, TOOL_STATUSES, TURN_ROLES } from './call-values.ts'
import { ShownSupervisorAction, showSupervisorAction } from './supervisor-action-shape.ts'
import { type FunctionCallRow, NOT_ANSWERED, type TurnRow } from './transcript-store.ts'
import { TurnTimeline } from './turn-timeline.ts'
import { EXTRACTION_STATUSES, QA_STATUSES, type VoiceSessionRow } from './voice-session-store.ts'
import type { WholeSession } from './voice-sessions.ts'

const text = nullable(Type.String())
const instant = nullable(Timestamp)
const wholeMs = Type.Integer({ minimum: 0 })

const Latency = Type.Object({
  greeting_ms: nullable(wholeMs),
  response_p50_ms: nullable(wholeMs),
  response_p95_ms: nullable(wholeMs),
  interruptions: Type.Integer({ minimum: 0 }),
})

const Usage = Type.Object({
  input_tokens: Type.Integer({ minimum: 0 }),
  output_tokens: Type.Integer({ minimum: 0 }),
  cached_tokens: Type.Integer({ minimum: 0 }),
  audio_seconds: Type.Number({ minimum: 0 }),
})

const Qa = Type.Object({
  score: Type.Number(),
  high_quality: Type.Boolean(),
  summary: text,
  criteria: Type.Array(Type.Object({ name: Type.String(), score: Type.Number(), reason: text })),
})

/** One thing that was said. */
export const Turn = Type.Object({
  seq: Type.Integer({ description: 'Grows along the conversation; gaps occur.' }),
  role: Type.Enum(TURN_ROLES),
  agent_name: nullable(
    Type.String({
      description: 'Which agent has said it, of several that had the call. Null: none has, or it was not kept.',
    }),
  ),
  text: Type.String({
    description: "What was heard of it; empty of words of the caller's that were not written down.",
  }),
  unheard: Type.String({ description: 'What was made to be said after that, and nobody heard; mostly empty.' }),
  start_ms: wholeMs,
  end_ms: Type.Integer({
    minimum: 0,
    description: 'The same as `start_ms` of what a supervisor has whispered to the agent, which nobody heard.',
  }),
  interrupted: Type.Boolean(),
  cost_usd: nullable(
    Type.Number({ minimum: 0, description: 'What it cost to say, with what was done for it. Null: not known.' }),
  ),
  timeline: nullable(TurnTimeline),
})

const FunctionCall = Type.Object({
  seq: Type.Integer(),
  name: Type.String(),
  arguments: Type.Unknown({ description: 'What the model sent; a text when it was not JSON.' }),
  result: Type.Unknown({
    description:
      'What the model was told; a text when it was not JSON. Null: the tool has begun and has not answered, for good where its ' +
      'process ended meanwhile.',
  }),
  status: Type.Enum(TOOL_STATUSES, { description: 'timeout: it is not known whether it was done.' }),
  start_ms: wholeMs,
  duration_ms: wholeMs,
})

const summary = {
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  org_id: text,
  call_sid: Type.String(),
  stream_sid: text,
  direction: Type.Enum(CALL_DIRECTIONS),
  agent_key: nullable(Type.String({ description: "Null when the tenant document's own agent speaks." })),
  agent_name: text,
  agent_version_id: text,
  version_number: nullable(Type.Integer()),
  model: nullable(
    Type.String({
      description: 'The one that spoke last, also where it was a default. Null: the stream never began.',
    }),
  ),
  voice: nullable(
    Type.String({ description: "The model's, also where it was a default. Null: the stream never began." }),
  ),
  audio_output_provider: Type.Enum(['primary', 'secondary'], {
    description: 'Whose voice is heard: what the tenant asks for, and, once the session has ended, who spoke last.',
  }),
  started_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the carrier said that its stream begins: what is in `ms` of the session counts from there.',
    }),
  ),
  ended_at: instant,
  duration_seconds: nullable(Type.Integer()),
  end_reason: nullable(Type.Enum(END_REASONS)),
  resumed_count: Type.Integer({ description: 'How often another stream went on with it.' }),
  latency: Latency,
  usage: Usage,
  cost_usd: nullable(
    Type.Number({ minimum: 0, description: 'What its model cost, by list price. Null: no price of it is known.' }),
  ),
  tags: Type.Array(Type.String()),
  outcome: nullable(Type.String({ description: 'What the agent recorded as the outcome.' })),
  outcome_notes: text,
  qa: nullable(Qa),
  qa_status: nullable(Type.Enum(QA_STATUSES, { description: 'How far its scoring has come; null before its end.' })),
  qa_reason: nullable(Type.String({ description: 'Why it has no score.' })),
  summary: nullable(Type.String({ description: 'What the conversation was about; null while nobody has said so.' })),
  extraction: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the `extraction` of the agent version asks for, which it fits.',
    }),
  ),
  extraction_status: nullable(
    Type.Enum(EXTRACTION_STATUSES, { description: 'Null: the agent version asks for none.' }),
  ),
  extraction_reason: nullable(Type.String({ description: 'Why it is missing.' })),
  recording_url: nullable(Type.String({ description: "Below the service's address. Null: nothing was recorded." })),
  metadata: Type.Record(Type.String(), Type.Unknown()),
}

/** A voice session as lists show it. */
export const VoiceSessionSummary = Type.Object(summary)

/** A voice session with all that was said and done in it. */
export const VoiceSession = Type.Object({
  ...summary,
  transcript: Type.Array(Turn),
  function_calls: Type.Array(FunctionCall),
})

/** The same as its tenant reads it, with what supervisors did. */
export const SupervisedSession = Type.Object({
  ...VoiceSession.properties,
  supervisor_actions: Type.Array(ShownSupervisorAction, {
    description:
      'What supervisors did to its call, oldest first; the first 500 of them at most. The words of a `say` and a `whisper` stand in the ' +
      'transcript.',
  }),
})

/** Writes a session as lists show it. */
export function showSession(row: VoiceSessionRow): Static<typeof VoiceSessionSummary> {
  const {
    from: _from,
    to: _to,
    call_status: _status,
    created_at: _at,
    greeting: _greeting,
    has_recording,
    completion_held: _held,
    day_spent: _spent,
    max_call_seconds: _longest,
    latency: { response_times: _times, ...latency },
    usage: { is_partial: _partial, ...usage },
    started_at,
    ended_at,
    ...shown
  } = row
  return {
    ...shown,
    latency,
    usage,
    started_at: isoOrNull(started_at),
    ended_at: isoOrNull(ended_at),
    recording_url: has_recording ? recordingUrl(row) : null,
  }
}

/** Where a session's recording is, below the service's address; the tenant's credential is asked for there. */
export function recordingUrl({ id }: Pick<VoiceSessionRow, 'id'>): string {
  return `/api/v1/voice-sessions/${id}/recording`
}

/** Writes a session with its turns and function calls. */
export function showWholeSession(
  row: VoiceSessionRow,
  turns: TurnRow[],
  calls: FunctionCallRow[],
): Static<typeof VoiceSession> {
  return { ...showSession(row), transcript: turns.map(showTurn), function_calls: calls.map(showFunctionCall) }
}

/** Writes a session with all that is known of it, as the JSON of a `SupervisedSession`: a slice at a time, for it may be of hours, and calls go on beside it. */
export async function writeSupervisedSession({ session, turns, calls, actions }: WholeSession): Promise<string> {
  const transcript = await writeRows(turns, { as: Turn, show: showTurn })
  const called = await writeRows(calls, { as: FunctionCall, show: showFunctionCall })
  const supervised = await writeRows(actions, { as: ShownSupervisorAction, show: showSupervisorAction })
  const summed = serializerOf(VoiceSessionSummary)(showSession(session))
  const members = `"transcript":${transcript},"function_calls":${called},"supervisor_actions":${supervised}`
  return `${summed.slice(0, -1)},${members}}`
}

/** Of text: less than a millisecond's work. */
const SLICE_CHARS = 64 * 1024

async function writeRows<Row>(
  rows: readonly Row[],
  { as, show }: { as: object; show: (row: Row) => unknown },
): Promise<string> {
  const write = serializerOf(as)
  const written: string[] = []
  let sliceChars = 0
  for (const row of rows) {
    const text = write(show(row))
    written.push(text)
    sliceChars += text.length
    if (sliceChars < SLICE_CHARS) continue
    sliceChars = 0
    await othersFirst()
  }
  return `[${written.join(',')}]`
}

/** Writes a turn as the API shows it. */
export function showTurn(row: TurnRow): Static<typeof Turn> {
  const { seq, role, text, unheard, start_ms, end_ms, interrupted, agent_name, cost_usd, timeline } = row
  // Journals that an earlier version has written know nothing of these.
  const measured = { cost_usd: cost_usd ?? null, timeline: timeline ?? null }
  return { seq, role, agent_name: agent_name ?? null, text, unheard, start_ms, end_ms, interrupted, ...measured }
}

function showFunctionCall(row: FunctionCallRow): Static<typeof FunctionCall> {
  const { seq, name, arguments: sent, result, status, start_ms, duration_ms } = row
  const told = result === NOT_ANSWERED ? null : parsed(result)
  return { seq, name, arguments: parsed(sent), result: told, status, start_ms, duration_ms }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

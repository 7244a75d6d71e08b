import { type Static, Type } from 'typebox'
import { iso, isoOrNull, nullable, Timestamp } from '../platform/http/schemas.ts'
import { durationSeconds } from './call-log-shape.ts'
import type { CallRecord } from './call-record.ts'
import { CALL_DIRECTIONS, CALL_STATUSES, type SessionEndReason } from './call-values.ts'

const text = nullable(Type.String())
const count = Type.Integer({ minimum: 0 })

/** What a call cost, as the operator's billing is told it once the call and its session are over. */
export const BillingOutcome = Type.Object({
  call_sid: Type.String(),
  voice_session_id: Type.String(),
  tenant_id: Type.String(),
  org_id: text,
  campaign_id: text,
  direction: Type.Enum(CALL_DIRECTIONS),
  from: Type.String(),
  to: Type.String(),
  status: Type.Enum(CALL_STATUSES),
  agent_key: text,
  agent_version_id: text,
  model: text,
  voice: text,
  audio_output_provider: Type.Enum(['primary', 'secondary']),
  created_at: Timestamp,
  answered_at: nullable(Timestamp),
  ended_at: Timestamp,
  duration_seconds: Type.Integer({ minimum: 0, description: "The carrier's word, else measured here." }),
  usage: Type.Object({
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count,
    audio_seconds: Type.Number({ minimum: 0 }),
  }),
  cost_usd: nullable(Type.Number({ minimum: 0, description: 'Of the model, by list price. Null: not known.' })),
  estimated: Type.Boolean({ description: 'A part is missing or was measured here: the bill may differ.' }),
})

/** Ends in which what the model had last used may not have been heard of. */
const ABRUPT: (SessionEndReason | null)[] = ['process_lost', 'carrier_lost', 'model_lost']

/** What the call cost; to be asked once it is complete. */
export function billingOutcome({ log, session }: CallRecord, now: Date): Static<typeof BillingOutcome> {
  const { is_partial: isPartial = false, ...usage } = session.usage
  const isMeasured = log.answered_at !== null && log.duration_seconds === null
  return {
    call_sid: session.call_sid,
    voice_session_id: session.id,
    tenant_id: session.tenant_id,
    org_id: log.org_id,
    campaign_id: log.campaign_id,
    direction: log.direction,
    from: log.from,
    to: log.to,
    status: log.status,
    agent_key: log.agent_key,
    agent_version_id: log.agent_version_id,
    model: session.model,
    voice: session.voice,
    audio_output_provider: session.audio_output_provider,
    created_at: iso(log.created_at),
    answered_at: isoOrNull(log.answered_at),
    ended_at: iso(log.ended_at ?? now),
    duration_seconds: durationSeconds(log) ?? 0,
    usage,
    cost_usd: session.cost_usd,
    estimated: isPartial || ABRUPT.includes(session.end_reason) || isMeasured,
  }
}

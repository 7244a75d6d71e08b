import { type Static, Type } from 'typebox'
import { iso, isoOrNull, nullable, Timestamp } from '../../platform/http/schemas.ts'
import { CALL_STATUSES } from '../../records/call-values.ts'
import { CAMPAIGN_STATUSES, type CampaignRow, MACHINE_ACTIONS } from './campaign-store.ts'
import { CONTACT_STATUSES, type ContactCounts, type ListedContact } from './contact-store.ts'

const count = Type.Integer({ minimum: 0 })
const text = nullable(Type.String())

const Counts = Type.Object({
  total: count,
  pending: count,
  dialing: count,
  completed: count,
  failed: count,
  refused: count,
  cancelled: count,
})

/** A campaign, as tenants see it. */
export const Campaign = Type.Object({
  id: Type.String(),
  tenant_id: Type.String(),
  name: Type.String(),
  agent_key: Type.String(),
  from: text,
  status: Type.Enum(CAMPAIGN_STATUSES),
  status_reason: nullable(Type.String({ description: 'Why it was paused by itself, as one sentence.' })),
  start_at: nullable(Timestamp),
  calling_hours: nullable(Type.Object({ start: Type.String(), end: Type.String() })),
  calls_per_second: Type.Number(),
  max_concurrent: count,
  max_attempts: count,
  retry_minutes: Type.Array(count),
  on_machine: nullable(Type.Enum(MACHINE_ACTIONS, { description: "Null: what the agent's voicemail says." })),
  contacts: Type.Object(Counts.properties, { description: 'How many contacts have come to what.' }),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  completed_at: nullable(Timestamp),
  updated_at: Timestamp,
})

/** A contact of a campaign, and what has come of calling. */
export const CampaignCall = Type.Object({
  id: Type.String(),
  campaign_id: Type.String(),
  phone: Type.String(),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  status: Type.Enum(CONTACT_STATUSES),
  outcome: nullable(
    Type.String({
      description:
        'reached, voicemail, message_left, busy, no_answer, canceled, failed, rejected; where nobody was called, the code of the dial gate.',
    }),
  ),
  attempts: count,
  due_at: nullable(Timestamp),
  call_sid: nullable(Type.String({ description: 'Of the last call.' })),
  call_status: nullable(Type.Enum(CALL_STATUSES)),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export function showCampaign(row: CampaignRow, counts: ContactCounts): Static<typeof Campaign> {
  const { hours_start: start, hours_end: end } = row
  return {
    ...{ id: row.id, tenant_id: row.tenant_id, name: row.name, agent_key: row.agent_key, from: row.from },
    ...{ status: row.status, status_reason: row.status_reason, start_at: isoOrNull(row.start_at) },
    calling_hours: start !== null && end !== null ? { start, end } : null,
    ...{ calls_per_second: row.calls_per_second, max_concurrent: row.max_concurrent, max_attempts: row.max_attempts },
    ...{ retry_minutes: row.retry_minutes, on_machine: row.on_machine },
    contacts: { ...counts, total: Object.values(counts).reduce((sum, each) => sum + each, 0) },
    ...{ created_at: iso(row.created_at), started_at: isoOrNull(row.started_at) },
    ...{ completed_at: isoOrNull(row.completed_at), updated_at: iso(row.updated_at) },
  }
}

export function showContact(row: ListedContact): Static<typeof CampaignCall> {
  return {
    ...{ id: row.id, campaign_id: row.campaign_id, phone: row.phone, metadata: row.metadata, status: row.status },
    ...{ outcome: row.outcome, attempts: row.attempts, due_at: row.status === 'pending' ? iso(row.due_at) : null },
    ...{ call_sid: row.call_sid, call_status: row.call_status },
    ...{ created_at: iso(row.created_at), updated_at: iso(row.updated_at) },
  }
}

import { type Static, Type } from 'typebox'
import { iso, isoOrNull, nullable, Timestamp } from '../platform/http/schemas.ts'
import { ANSWERED_BY_SOURCES } from './answered-by.ts'
import type { CallLogRow } from './call-log-store.ts'
import { CALL_DIRECTIONS, CALL_STATUSES } from './call-values.ts'

const text = nullable(Type.String())
const instant = nullable(Timestamp)

/** A call log as the API shows it and events carry it. */
export const CallLog = Type.Object({
  call_sid: nullable(Type.String({ description: 'Null until the carrier has said that it took the call.' })),
  tenant_id: Type.String(),
  org_id: text,
  direction: Type.Enum(CALL_DIRECTIONS),
  from: Type.String({
    description:
      'In E.164, as it is dialled from abroad; what is no number as the carrier sent it: a withheld one is `anonymous`, say.',
  }),
  to: Type.String(),
  status: Type.Enum(CALL_STATUSES),
  agent_key: nullable(Type.String({ description: "Null when the tenant document's own agent speaks." })),
  agent_name: text,
  agent_version_id: text,
  version_number: nullable(Type.Integer()),
  stream_sid: text,
  voice_session_id: text,
  callback_task_id: text,
  campaign_id: text,
  placed_by: nullable(
    Type.String({
      description:
        'The person who placed it in the dashboard, or talks there: their e-mail, or ADMIN_USERNAME. Null for a key, a campaign and a call that came in; of a callback task the history says who.',
    }),
  ),
  canceled_by: nullable(
    Type.String({
      description: 'The person who cancelled it while it rang, in the same way. Null for a key and the carrier.',
    }),
  ),
  created_at: Timestamp,
  started_at: instant,
  answered_at: instant,
  ended_at: instant,
  duration_seconds: nullable(Type.Integer({ description: 'From the answer to the end; null while the call goes on.' })),
  answered_by: nullable(
    Type.String({
      description:
        'Who or what answered: `human`, `machine_start`, `machine_end_beep`, `machine_end_silence`, `machine_end_other`, `fax`, `screening` (an assistant asked who calls, and nobody was put through), `ivr` (a recorded menu) or `unknown`. Null: nobody looked.',
    }),
  ),
  answered_by_source: nullable(
    Type.Enum(ANSWERED_BY_SOURCES, {
      description: 'Who says so: the carrier, or the service, from words, from a tone, or from how long was spoken.',
    }),
  ),
  escalated: Type.Boolean(),
  escalation_target: text,
  summary: text,
  error_code: nullable(
    Type.String({
      description:
        'Why the call failed or was not taken: a code of ours (see the guide to errors), the number that the carrier has for it, or what the telephone network answered, such as sip_404.',
    }),
  ),
  error_message: text,
  cost_usd: nullable(
    Type.Number({ minimum: 0, description: 'What its model cost, once it is over. Null: no price of it is known.' }),
  ),
  metadata: Type.Record(Type.String(), Type.Unknown()),
})

/** Writes a log entry as the API shows it. */
export function showCallLog(row: CallLogRow): Static<typeof CallLog> {
  const { id: _id, status_at: _at, canceled_by, created_at, started_at, answered_at, ended_at, ...shown } = row
  return {
    ...shown,
    canceled_by: shown.status === 'canceled' ? canceled_by : null,
    created_at: iso(created_at),
    started_at: isoOrNull(started_at),
    answered_at: isoOrNull(answered_at),
    ended_at: isoOrNull(ended_at),
    duration_seconds: durationSeconds(row),
  }
}

/** How long the parties were connected: by the carrier's word, else by our instants. Null before the end. */
export function durationSeconds({ duration_seconds, answered_at, ended_at }: CallLogRow): number | null {
  if (ended_at === null) return null
  if (duration_seconds !== null) return duration_seconds
  if (answered_at === null) return 0
  return Math.max(0, Math.round((ended_at.getTime() - answered_at.getTime()) / 1_000))
}

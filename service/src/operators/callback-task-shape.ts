import { iso, isoOrNull } from '../platform/http/schemas.ts'
import type { CallbackTaskRow } from './callback-task-store.ts'

/** Writes a task as the API shows it and events carry it: its instants as text, the rest as it is. */
export function showCallbackTask(row: CallbackTaskRow) {
  return {
    ...row,
    acknowledged_at: isoOrNull(row.acknowledged_at),
    claimed_at: isoOrNull(row.claimed_at),
    completed_at: isoOrNull(row.completed_at),
    due_at: isoOrNull(row.due_at),
    sla_due_at: iso(row.sla_due_at),
    last_sla_alert_due_at: isoOrNull(row.last_sla_alert_due_at),
    last_sla_alerted_at: isoOrNull(row.last_sla_alerted_at),
    snoozed_until: isoOrNull(row.snoozed_until),
    last_dispatch_attempted_at: isoOrNull(row.last_dispatch_attempted_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

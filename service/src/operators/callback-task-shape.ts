import { Type } from 'typebox'
import { iso, isoOrNull, nullable, Timestamp } from '../platform/http/schemas.ts'
import type { TaskChangeRow } from './callback-task-history-store.ts'
import type { CallbackTaskRow } from './callback-task-store.ts'
import { TASK_DISPOSITIONS, TASK_PRIORITIES, TASK_STATUSES } from './callback-task-values.ts'

const text = nullable(Type.String())
const instant = nullable(Timestamp)
const Metadata = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

/** A callback task as the API shows it. */
export const CallbackTask = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  stream_sid: text,
  call_sid: text,
  agent_name: text,
  customer_phone: Type.String(),
  status: Type.Enum(TASK_STATUSES),
  disposition: nullable(Type.Enum(TASK_DISPOSITIONS)),
  priority: Type.Enum(TASK_PRIORITIES),
  queue_key: Type.String(),
  summary: text,
  notes: text,
  metadata: Metadata,
  created_by: text,
  assigned_to: text,
  acknowledged_at: instant,
  acknowledged_by: text,
  claimed_at: instant,
  completed_at: instant,
  due_at: instant,
  sla_due_at: Timestamp,
  last_sla_alert_due_at: instant,
  last_sla_alerted_at: instant,
  snoozed_until: instant,
  snooze_reason: text,
  dispatch_attempt_count: Type.Integer({ minimum: 0 }),
  last_dispatch_attempted_at: instant,
  last_dispatch_call_sid: text,
  last_dispatch_status: nullable(Type.String({ description: 'That of the call.' })),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** Writes a task as the API shows it and events carry it: without what only sweeps note, its instants as text, the rest as it is. */
export function showCallbackTask(task: CallbackTaskRow) {
  const { reminded_at: _r, escalated_at: _e, refused_at: _f, unwanted_at: _u, ...row } = task
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

/** Something that was done to a task, as the API shows it. */
export const TaskChange = Type.Object({
  id: Type.String({ format: 'uuid' }),
  task_id: Type.String({ format: 'uuid' }),
  action: Type.String({
    description:
      'create, edit, the name of an endpoint, settle (the call of a dispatch ended), or what a sweep did: alert, remind, escalate, reconcile.',
  }),
  status: Type.Enum(TASK_STATUSES, { description: 'What the task had then.' }),
  operator: nullable(Type.String({ description: 'Who did it, as they said.' })),
  note: text,
  details: Metadata,
  created_at: Timestamp,
})

/** Writes a change as the API shows it. */
export function showTaskChange({ tenant_id: _tenant, ...row }: TaskChangeRow) {
  return { ...row, created_at: iso(row.created_at) }
}

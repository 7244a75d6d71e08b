import { type EventSubject, enqueue } from '../delivery/enqueue.ts'
import { newId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { recordTaskChange } from './callback-task-history-store.ts'
import { showCallbackTask } from './callback-task-shape.ts'
import { type CallbackTaskId, type CallbackTaskRow, insertCallbackTask } from './callback-task-store.ts'
import { findQueue } from './operator-queue-store.ts'
import { slaDueAt } from './queue-hours.ts'

/** What whoever adds a task says of it. Without `sla_due_at` the queue's settings tell. */
export type TaskFields = Pick<
  CallbackTaskRow,
  | 'stream_sid'
  | 'call_sid'
  | 'agent_name'
  | 'customer_phone'
  | 'queue_key'
  | 'priority'
  | 'summary'
  | 'notes'
  | 'metadata'
  | 'created_by'
  | 'due_at'
> & { sla_due_at: Date | null }

/** Adds an open task, and tells the tenant. @param id its id, if it has one already. @throws AppError `not_found` for a deleted tenant. */
export async function addTask(
  tx: Tx,
  tenant: TenantRuntime,
  { id, fields, subject }: { id?: CallbackTaskId; fields: TaskFields; subject: EventSubject | null },
  now: Date,
): Promise<CallbackTaskRow> {
  const { tenant_id: tenantId } = tenant
  await holdKnownTenant(tx, tenantId)
  const dueAt = fields.due_at ?? now
  const slaDue = fields.sla_due_at ?? slaDueAt(tenant, await findQueue(tx, tenantId, fields.queue_key), dueAt)
  const task = await insertCallbackTask(tx, tenantId, { ...newTask(now, id), ...fields, sla_due_at: slaDue })
  const change = { action: 'create' as const, operator: fields.created_by, note: null, details: {} }
  await recordTaskChange(tx, task, change, now)
  const payload = { task: showCallbackTask(task) }
  await enqueue(tx, tenant, [{ event: 'callback.task.created', subject, payload }], now)
  return task
}

function newTask(now: Date, id = newId<CallbackTaskId>(now.getTime())) {
  return {
    id,
    status: 'open' as const,
    disposition: null,
    assigned_to: null,
    acknowledged_at: null,
    acknowledged_by: null,
    claimed_at: null,
    completed_at: null,
    last_sla_alert_due_at: null,
    last_sla_alerted_at: null,
    ...{ reminded_at: null, escalated_at: null, refused_at: null },
    snoozed_until: null,
    snooze_reason: null,
    unwanted_at: null,
    dispatch_attempt_count: 0,
    last_dispatch_attempted_at: null,
    last_dispatch_call_sid: null,
    last_dispatch_status: null,
    created_at: now,
    updated_at: now,
  }
}

import { type EventSubject, enqueue } from '../delivery/enqueue.ts'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { storable } from '../records/storable.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { showCallbackTask } from './callback-task-shape.ts'
import {
  type CallbackTaskId,
  type CallbackTaskRow,
  insertCallbackTask,
  type TaskPriority,
} from './callback-task-store.ts'

/** What a new task is made of. */
export type NewCallback = {
  customerPhone: PhoneNumber
  /** The call in which it was asked for; null for none. */
  call: (EventSubject & { streamSid: string | null; agentName: string | null }) | null
  priority: TaskPriority
  summary: string | null
  notes: string | null
  /** When to call; null: as soon as possible. */
  dueAt: Date | null
  /** Who asked for it, for people. */
  createdBy: string | null
  metadata: Record<string, unknown>
}

/** The queue that every tenant has, and how soon a task of it is to be done. */
const DEFAULT_QUEUE = 'default'
const DEFAULT_SLA_MS = 30 * 60_000

/** What operators have to do for callers. */
export type CallbackTasks = {
  /**
   * Adds an open task to the default queue and tells the tenant. Nothing is added once `signal` was aborted before it was
   * about to be committed.
   *
   * @throws AppError `not_found` for a deleted tenant, and the signal's reason.
   */
  schedule(tenant: TenantRuntime, callback: NewCallback, signal?: AbortSignal): Promise<CallbackTaskRow>
}

export function makeCallbackTasks({ db, clock }: { db: Db; clock: Clock }): CallbackTasks {
  return {
    schedule: (tenant, callback, signal) =>
      db.transaction().execute(async (tx) => {
        const task = await scheduleCallback(tx, tenant, callback, new Date(clock.now()))
        signal?.throwIfAborted()
        return task
      }),
  }
}

/** Adds an open task in a transaction of the caller's. @throws AppError `not_found` for a deleted tenant. */
export async function scheduleCallback(
  tx: Tx,
  tenant: TenantRuntime,
  callback: NewCallback,
  now: Date,
): Promise<CallbackTaskRow> {
  await holdKnownTenant(tx, tenant.tenant_id)
  const task = await insertCallbackTask(tx, tenant.tenant_id, newTask(callback, now))
  const payload = { task: showCallbackTask(task) }
  await enqueue(tx, tenant, [{ event: 'callback.task.created', subject: callback.call, payload }], now)
  return task
}

function newTask(callback: NewCallback, now: Date): Omit<CallbackTaskRow, 'tenant_id'> {
  const { call, dueAt } = callback
  return {
    id: newId<CallbackTaskId>(now.getTime()),
    stream_sid: call?.streamSid ?? null,
    call_sid: call?.callSid ?? null,
    agent_name: call?.agentName ?? null,
    customer_phone: callback.customerPhone,
    status: 'open',
    disposition: null,
    priority: callback.priority,
    queue_key: DEFAULT_QUEUE,
    summary: callback.summary && storable(callback.summary),
    notes: callback.notes && storable(callback.notes),
    metadata: callback.metadata,
    created_by: callback.createdBy,
    assigned_to: null,
    acknowledged_at: null,
    acknowledged_by: null,
    claimed_at: null,
    completed_at: null,
    due_at: dueAt,
    sla_due_at: new Date((dueAt ?? now).getTime() + DEFAULT_SLA_MS),
    last_sla_alert_due_at: null,
    last_sla_alerted_at: null,
    snoozed_until: null,
    snooze_reason: null,
    dispatch_attempt_count: 0,
    last_dispatch_attempted_at: null,
    last_dispatch_call_sid: null,
    last_dispatch_status: null,
    created_at: now,
    updated_at: now,
  }
}

import type { EventSubject } from '../delivery/enqueue.ts'
import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { storable } from '../records/storable.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { addTask } from './add-callback-task.ts'
import type { CallbackTaskRow } from './callback-task-store.ts'
import { DEFAULT_QUEUE, type TaskPriority } from './callback-task-values.ts'

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

type Deps = {
  db: Db
  clock: Clock
  /** Finds a tenant as it is now, which may not be how a call of it began; not given: it is as it is given. */
  tenants?: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

export function makeCallbackTasks({ db, clock, tenants }: Deps): CallbackTasks {
  return {
    async schedule(tenant, callback, signal) {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const present = (await tenants?.get(tenant.tenant_id)) ?? tenant
      return db.transaction().execute(async (tx) => {
        const task = await scheduleCallback(tx, present, callback, new Date(clock.now()))
        signal?.throwIfAborted()
        return task
      })
    },
  }
}

/** Adds an open task in a transaction of the caller's. @throws AppError `not_found` for a deleted tenant. */
export async function scheduleCallback(
  tx: Tx,
  tenant: TenantRuntime,
  { call, ...callback }: NewCallback,
  now: Date,
): Promise<CallbackTaskRow> {
  const fields = {
    stream_sid: call?.streamSid ?? null,
    call_sid: call?.callSid ?? null,
    agent_name: call?.agentName ?? null,
    customer_phone: callback.customerPhone,
    queue_key: DEFAULT_QUEUE,
    priority: callback.priority,
    summary: callback.summary && storable(callback.summary),
    notes: callback.notes && storable(callback.notes),
    metadata: callback.metadata,
    created_by: callback.createdBy,
    due_at: callback.dueAt,
    sla_due_at: null,
  }
  return addTask(tx, tenant, { fields, subject: call }, now)
}

import { etagOf } from '../kernel/etag.ts'
import type { Tx } from '../platform/db/schema.ts'
import { checkPrecondition } from '../tenancy/tenant-preconditions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { findReopening, recordTaskChange } from './callback-task-history-store.ts'
import { moveTask, type TaskSettings } from './callback-task-move-store.ts'
import { type CallbackTaskId, type CallbackTaskRow, lockCallbackTask } from './callback-task-store.ts'
import { TASK_STATUSES } from './callback-task-values.ts'
import { unknownTask } from './change-callback-task.ts'
import { findQueue } from './operator-queue-store.ts'
import { slaDueAt } from './queue-hours.ts'
import { forgetEscalation } from './sweeps/follow-up-store.ts'

type Editable = Pick<CallbackTaskRow, 'queue_key' | 'summary' | 'notes' | 'priority' | 'due_at' | 'metadata'>

/** What of a task is to be changed; what is left out stays. `sla_due_at` null: as the queue's settings tell. */
export type TaskEdit = Partial<Editable & { sla_due_at: Date | null }>

type WantedEdit = { id: CallbackTaskId; edit: TaskEdit; ifMatch?: string | undefined; operator: string | null }

/** Of what an edit writes, and no more: who claims a task or calls for it meanwhile does not stand in the way of a note. */
export function taskEtag({
  queue_key,
  summary,
  notes,
  priority,
  due_at,
  sla_due_at,
  metadata,
}: CallbackTaskRow): string {
  const promise = { due_at: due_at?.getTime() ?? null, sla_due_at: sla_due_at.getTime() }
  return etagOf({ queue_key, summary, notes, priority, ...promise, metadata })
}

/**
 * Changes a task. By when it is to be done is worked out anew with another `due_at` or queue, unless that is
 * given too.
 *
 * @throws AppError `not_found`; `precondition_failed` when the task has not the tag of `ifMatch` any more.
 */
export async function editTask(
  tx: Tx,
  tenant: TenantRuntime,
  { id, edit, ifMatch, operator }: WantedEdit,
  now: Date,
): Promise<CallbackTaskRow> {
  const before = await lockCallbackTask(tx, tenant.tenant_id, id)
  // It may have been erased since it was looked for.
  if (!before) throw unknownTask()
  // Only now: what was written while we waited for the row decides.
  checkPrecondition({ ifMatch }, taskEtag(before))
  const fields = Object.keys(edit)
  if (fields.length === 0) return before
  const set = { ...edit, sla_due_at: await slaAfter(tx, tenant, before, edit), updated_at: now }
  const task = await moveTask(tx, tenant.tenant_id, id, { from: TASK_STATUSES, set })
  if (!task) throw new Error('a task is gone that is locked')
  if (task.sla_due_at.getTime() !== before.sla_due_at.getTime()) await forgetEscalation(tx, tenant.tenant_id, id)
  await recordTaskChange(tx, task, { action: 'edit', operator, note: null, details: { fields } }, now)
  return task
}

/** What a task has that is to be done again: a new promise from now on, for the old one is over as a rule. */
export async function dueAnew(
  tx: Tx,
  tenant: TenantRuntime,
  { id, queue_key }: Pick<CallbackTaskRow, 'id' | 'queue_key'>,
  now: Date,
): Promise<TaskSettings> {
  await forgetEscalation(tx, tenant.tenant_id, id)
  return { due_at: null, sla_due_at: slaDueAt(tenant, await findQueue(tx, tenant.tenant_id, queue_key), now) }
}

async function slaAfter(tx: Tx, tenant: TenantRuntime, before: CallbackTaskRow, edit: TaskEdit): Promise<Date> {
  if (edit.sla_due_at) return edit.sla_due_at
  const after = { ...before, ...edit }
  const isMoved = after.queue_key !== before.queue_key || after.due_at?.getTime() !== before.due_at?.getTime()
  if (!isMoved && !('sla_due_at' in edit)) return before.sla_due_at
  const { tenant_id, id, queue_key, due_at, created_at } = after
  const from = due_at ?? (await findReopening(tx, tenant_id, id)) ?? created_at
  return slaDueAt(tenant, await findQueue(tx, tenant_id, queue_key), from)
}

import { newId, type TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { CallbackTaskId, CallbackTaskRow } from './callback-task-store.ts'
import type { TaskStatus } from './callback-task-values.ts'

/**
 * What can be done to a task. `settle`: the call by which it was dispatched is over. `alert`, `remind`, `escalate`: it was not done
 * in time, and somebody was told. `reconcile`: it followed its ticket.
 */
export type TaskAction =
  | 'create'
  | 'edit'
  | 'acknowledge'
  | 'claim'
  | 'release'
  | 'assign'
  | 'snooze'
  | 'wake'
  | 'complete'
  | 'cancel'
  | 'reopen'
  | 'dispatch'
  | 'settle'
  | 'alert'
  | 'remind'
  | 'escalate'
  | 'reconcile'

/** Something that was done to a task. It is never changed. */
export type TaskChangeRow = {
  tenant_id: TenantId
  id: string
  task_id: CallbackTaskId
  action: TaskAction
  /** What the task had then. */
  status: TaskStatus
  /** Who did it; null when nobody said so, or it happened by itself. */
  operator: string | null
  note: string | null
  details: Record<string, unknown>
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    callback_task_changes: TaskChangeRow
  }
}

/** What is said of a change beside the task that it made. */
export type TaskChange = Pick<TaskChangeRow, 'action' | 'operator' | 'note' | 'details'>

/** Writes down what was done to a task, in the transaction that did it. @param task as it is now. */
export async function recordTaskChange(tx: Tx, task: CallbackTaskRow, change: TaskChange, now: Date): Promise<void> {
  const { tenant_id, id: task_id, status } = task
  const row = { ...change, tenant_id, task_id, status, id: newId<string>(now.getTime()), created_at: now }
  await tx.insertInto('callback_task_changes').values(row).execute()
}

/** When a task was opened again that had been done, the last time; null: never. */
export async function findReopening(tx: Tx, tenantId: TenantId, taskId: CallbackTaskId): Promise<Date | null> {
  const row = await tx
    .selectFrom('callback_task_changes')
    .select((eb) => eb.fn.max('created_at').as('at'))
    .where('tenant_id', '=', tenantId)
    .where('task_id', '=', taskId)
    .where('action', 'in', ['reopen', 'reconcile'])
    .where('status', '=', 'open')
    .executeTakeFirst()
  return row?.at ?? null
}

/** What was done to a task of the tenant's, newest first. */
export function listTaskChanges(
  db: Db,
  tenantId: TenantId,
  taskId: CallbackTaskId,
  page: PageRequest,
): Promise<FittingRows<TaskChangeRow>> {
  const query = db
    .selectFrom('callback_task_changes')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('task_id', '=', taskId)
    .$call(newestFirst('callback_task_changes', page))
  return fittingRows(db, query, ['note', 'details'], page.limit)
}

import { enqueue } from '../delivery/enqueue.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { spellingsOf } from '../kernel/phone.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { recordTaskChange, type TaskChange } from './callback-task-history-store.ts'
import { moveTask } from './callback-task-move-store.ts'
import { cancelUnwanted, type TaskMove } from './callback-task-moves.ts'
import { showCallbackTask } from './callback-task-shape.ts'
import { type CallbackTaskId, type CallbackTaskRow, findCallbackTask } from './callback-task-store.ts'
import type { TaskStatus } from './callback-task-values.ts'
import { isListed } from './do-not-call-store.ts'
import { findSubject } from './task-subject-store.ts'

type Change = { id: CallbackTaskId; move: TaskMove }

/**
 * Changes a task whose status allows it, and writes down who did it and what the tenant is told, in the caller's transaction. One that
 * would wait again, and whose number was listed as not to be called while somebody was at it, is cancelled at once.
 *
 * @returns the task as it is now; null when there is none, or its status does not allow it.
 */
export async function changeTask(
  tx: Tx,
  tenant: TenantRuntime,
  change: Change,
  now: Date,
): Promise<CallbackTaskRow | null> {
  const task = await changeOnce(tx, tenant, change, { now, toldAt: now })
  const { status } = change.move.set
  if (!task || !(status === 'open' || status === 'snoozed') || !(await isUnwanted(tx, task))) return task
  // Told behind the other change: of two in the same millisecond chance would say which is first.
  const toldAt = new Date(now.getTime() + 1)
  return changeOnce(tx, tenant, { id: change.id, move: cancelUnwanted(null) }, { now, toldAt })
}

async function changeOnce(
  tx: Tx,
  tenant: TenantRuntime,
  { id, move }: Change,
  { now, toldAt }: { now: Date; toldAt: Date },
): Promise<CallbackTaskRow | null> {
  const { from, set } = move
  const task = await moveTask(tx, tenant.tenant_id, id, { from, set: { ...set, updated_at: now } })
  if (task) await tellTaskChange(tx, tenant, { task, change: move, event: move.event }, toldAt)
  return task
}

/**
 * Whether the number of a task was listed as not to be called while somebody was at it, and is so still. It may have been taken off since,
 * and listed again by an import, which cancels nothing.
 */
export async function isUnwanted(
  tx: Tx,
  { tenant_id, unwanted_at, customer_phone }: Pick<CallbackTaskRow, 'tenant_id' | 'unwanted_at' | 'customer_phone'>,
): Promise<boolean> {
  return unwanted_at !== null && isListed(tx, tenant_id, spellingsOf(customer_phone), { by: unwanted_at })
}

type Told = { task: CallbackTaskRow; change: TaskChange; event: EventName | null }

/**
 * Writes down that a task was changed, and what the tenant is told of it.
 *
 * @param told its task is the one after the change.
 * @returns how many events the tenant is told.
 */
export async function tellTaskChange(tx: Tx, tenant: TenantRuntime, told: Told, now: Date): Promise<number> {
  const { task, event } = told
  const { action, operator, note, details } = told.change
  await recordTaskChange(tx, task, { action, operator, note, details }, now)
  if (event === null) return 0
  const subject = await findSubject(tx, tenant.tenant_id, task.call_sid)
  return enqueue(tx, tenant, [{ event, subject, payload: { task: showCallbackTask(task) } }], now)
}

/** The tenant's task. @throws AppError `not_found`. */
export async function expectTask(db: Db, tenantId: TenantId, id: CallbackTaskId): Promise<CallbackTaskRow> {
  const task = isUuid(id) ? await findCallbackTask(db, tenantId, id) : null
  if (!task) throw unknownTask()
  return task
}

export function unknownTask(): AppError {
  return new AppError('not_found', 'There is no such callback task.')
}

/** Why a change did not happen: the task has a status that does not allow it. @param doing such as `claim`. */
export function refusedMove({ status }: CallbackTaskRow, doing: string, from: readonly TaskStatus[]): AppError {
  const wanted = from.join(' or ')
  return new AppError('conflict', `The task is ${status}: to ${doing} it, it must be ${wanted}.`)
}

import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { lockWaitingTasks } from './callback-task-move-store.ts'
import { cancel } from './callback-task-moves.ts'
import { changeTask } from './change-callback-task.ts'

const NOT_TO_BE_CALLED = 'The number is not to be called any more.'

/**
 * Cancels the tasks of a number that wait for somebody, in the caller's transaction: nobody is to be called for them, and the
 * queue would hand them out. One that is claimed, or being dispatched, is left to whoever is at it.
 */
export async function cancelTasksOf(
  tx: Tx,
  tenant: TenantRuntime,
  { phone, operator }: { phone: PhoneNumber; operator: string | null },
  now: Date,
): Promise<void> {
  const { set, ...move } = cancel({ operator, note: NOT_TO_BE_CALLED })
  const cancelled = { ...move, set: { ...set, disposition: 'do_not_call' as const } }
  for (const id of await lockWaitingTasks(tx, tenant.tenant_id, phone)) {
    await changeTask(tx, tenant, { id, move: cancelled }, now)
  }
}

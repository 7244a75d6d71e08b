import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { lockWaitingTasks, markUnwanted } from './callback-task-move-store.ts'
import { cancelUnwanted } from './callback-task-moves.ts'
import { changeTask } from './change-callback-task.ts'

/**
 * Cancels the tasks of a number that wait for somebody, in the caller's transaction: nobody is to be called for them, and the
 * queue would hand them out. One that is claimed, or being dispatched, is left to whoever is at it, and cancelled when they leave it
 * to the queue again.
 */
export async function cancelTasksOf(
  tx: Tx,
  tenant: TenantRuntime,
  { phone, operator }: { phone: PhoneNumber; operator: string | null },
  now: Date,
): Promise<void> {
  for (const id of await lockWaitingTasks(tx, tenant.tenant_id, phone)) {
    await changeTask(tx, tenant, { id, move: cancelUnwanted(operator) }, now)
  }
  await markUnwanted(tx, tenant.tenant_id, phone, now)
}

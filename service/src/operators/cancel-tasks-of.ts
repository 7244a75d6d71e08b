import type { Clock } from '../kernel/clock.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { listUnnotedTasks, lockWaitingTasks, markUnwanted, moveTask } from './callback-task-move-store.ts'
import { cancelUnwanted } from './callback-task-moves.ts'
import { type CallbackTaskId, lockCallbackTask } from './callback-task-store.ts'
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

/** Whose tasks are cancelled, who says so, and since when its number is listed. */
export type Unwanted = { phone: PhoneNumber; operator: string | null; listedAt: Date }

/**
 * Does the same with the tasks that somebody else was changing meanwhile: one that was given back in that instant would stay in its queue.
 * To be called once the number is listed, with nothing held: each is waited for in a transaction of its own. Never rejects: listed, the
 * number is not called whatever becomes of these. What failed is told in the log, for somebody may have to take them out of their queue.
 */
export async function cancelTasksLeft(
  { db, clock, log }: { db: Db; clock: Pick<Clock, 'now'>; log: Pick<Log, 'warn'> },
  tenant: TenantRuntime,
  unwanted: Unwanted,
): Promise<void> {
  const { phone, listedAt } = unwanted
  const cancelLeft = async () => {
    for (const id of await listUnnotedTasks(db, tenant.tenant_id, { phone, madeBy: listedAt }))
      await db.transaction().execute((tx) => cancelLate(tx, tenant, { ...unwanted, id }, new Date(clock.now())))
  }
  await cancelLeft().catch((err: unknown) =>
    log.warn({ tenant_id: tenant.tenant_id, err }, 'callback tasks of a listed number were not cancelled'),
  )
}

async function cancelLate(
  tx: Tx,
  tenant: TenantRuntime,
  { id, operator, listedAt }: Unwanted & { id: CallbackTaskId },
  now: Date,
): Promise<void> {
  await holdKnownTenant(tx, tenant.tenant_id)
  const task = await lockCallbackTask(tx, tenant.tenant_id, id)
  if (task?.status === 'open' || task?.status === 'snoozed')
    await changeTask(tx, tenant, { id, move: cancelUnwanted(operator) }, now)
  else await moveTask(tx, tenant.tenant_id, id, { from: ['claimed', 'dispatching'], set: { unwanted_at: listedAt } })
}

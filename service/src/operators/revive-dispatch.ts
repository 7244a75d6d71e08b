import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { TaskMove } from './callback-task-moves.ts'
import { changeTask } from './change-callback-task.ts'
import { findRevivable, unsettleDispatch } from './task-dispatch-store.ts'

/**
 * The call of a dispatch was given up, and its carrier has it after all: what was made of its end is taken back. Its task is being
 * dispatched again, unless somebody has done something else with it meanwhile. A call that dispatches no task changes nothing.
 * `wasCounted`: it was counted as an attempt though it was given up.
 */
export async function reviveDispatch(
  tx: Tx,
  tenant: TenantRuntime,
  { callLogId, callSid, wasCounted }: { callLogId: string; callSid: string | null; wasCounted: boolean },
  now: Date,
): Promise<void> {
  const dispatch = await unsettleDispatch(tx, tenant.tenant_id, callLogId)
  const task = dispatch && (await findRevivable(tx, tenant.tenant_id, dispatch))
  if (!task) return
  const attempt = task.dispatch_attempt_count + (wasCounted ? 0 : 1)
  const newest = { last_dispatch_status: 'queued' as const, last_dispatch_call_sid: callSid }
  const set = { status: 'dispatching' as const, disposition: null, dispatch_attempt_count: attempt, ...newest }
  const move: TaskMove = {
    ...{ action: 'dispatch', operator: null, note: null, event: 'callback.task.dispatched' },
    ...{ from: [task.status], set },
    details: { attempt, call_sid: callSid },
  }
  await changeTask(tx, tenant, { id: task.id, move }, now)
}

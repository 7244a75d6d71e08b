import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type TaskStatus = 'open' | 'claimed' | 'snoozed' | 'dispatching' | 'completed' | 'cancelled'

/** How the last attempt went. */
type TaskDisposition =
  | 'reached'
  | 'resolved'
  | 'no_answer'
  | 'busy'
  | 'voicemail'
  | 'wrong_number'
  | 'rescheduled'
  | 'do_not_call'
  | 'failed'

export type TaskPriority = 'low' | 'normal' | 'high' | 'urgent'

export type CallbackTaskId = string & { readonly __brand: 'CallbackTaskId' }

/** Somebody is to be called back. */
export type CallbackTaskRow = {
  tenant_id: TenantId
  id: CallbackTaskId
  stream_sid: string | null
  call_sid: string | null
  agent_name: string | null
  customer_phone: PhoneNumber
  status: TaskStatus
  disposition: TaskDisposition | null
  priority: TaskPriority
  queue_key: string
  summary: string | null
  notes: string | null
  metadata: Record<string, unknown>
  created_by: string | null
  assigned_to: string | null
  acknowledged_at: Date | null
  acknowledged_by: string | null
  claimed_at: Date | null
  completed_at: Date | null
  due_at: Date | null
  sla_due_at: Date
  last_sla_alert_due_at: Date | null
  last_sla_alerted_at: Date | null
  snoozed_until: Date | null
  snooze_reason: string | null
  dispatch_attempt_count: number
  last_dispatch_attempted_at: Date | null
  last_dispatch_call_sid: string | null
  last_dispatch_status: string | null
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    callback_tasks: CallbackTaskRow
  }
}

export async function insertCallbackTask(
  tx: Tx,
  tenantId: TenantId,
  task: Omit<CallbackTaskRow, 'tenant_id'>,
): Promise<CallbackTaskRow> {
  return tx
    .insertInto('callback_tasks')
    .values({ ...task, tenant_id: tenantId })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Whether the tenant has a task of this id, a uuid. */
export async function hasCallbackTask(db: Db, tenantId: TenantId, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('callback_tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id as CallbackTaskId)
    .executeTakeFirst()
  return row !== undefined
}

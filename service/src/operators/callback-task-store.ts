import { type Expression, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { isLater, newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { TaskDisposition, TaskPriority, TaskStatus } from './callback-task-values.ts'

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
  /** When whoever claimed it was reminded last, when it was escalated, which is done once, and until when others are called first, as no call for it could be placed. */
  reminded_at: Date | null
  escalated_at: Date | null
  refused_at: Date | null
  snoozed_until: Date | null
  snooze_reason: string | null
  /** When its number was listed as not to be called while somebody was at it. */
  unwanted_at: Date | null
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

/** The tenant's task; null when it has none of this id, a uuid. */
export async function findCallbackTask(
  db: Db,
  tenantId: TenantId,
  id: CallbackTaskId,
): Promise<CallbackTaskRow | null> {
  const row = await ofTenant(db, tenantId).where('id', '=', id).executeTakeFirst()
  return row ?? null
}

/** The same, kept from changing until the transaction ends. */
export async function lockCallbackTask(
  tx: Tx,
  tenantId: TenantId,
  id: CallbackTaskId,
): Promise<CallbackTaskRow | null> {
  const row = await ofTenant(tx, tenantId).where('id', '=', id).forUpdate().executeTakeFirst()
  return row ?? null
}

function ofTenant(db: Db, tenantId: TenantId) {
  return db.selectFrom('callback_tasks').selectAll().where('tenant_id', '=', tenantId)
}

/** What tasks can be looked for by, each exactly as stored. What is undefined is not asked. */
export type TaskFilter = Partial<
  Pick<
    CallbackTaskRow,
    | 'status'
    | 'disposition'
    | 'priority'
    | 'queue_key'
    | 'assigned_to'
    | 'customer_phone'
    | 'stream_sid'
    | 'call_sid'
    | 'tenant_id'
  >
>

/**
 * A page of the tenant's tasks that are not done, the one whose promise is over first at the head. Its position names
 * `sla_due_at`.
 */
export async function listDueCallbackTasks(
  db: Db,
  tenantId: TenantId,
  filter: TaskFilter,
  page: PageRequest,
): Promise<FittingRows<CallbackTaskRow>> {
  const query = db
    .selectFrom('callback_tasks')
    .selectAll()
    // Written out, as the index has it.
    .where(sql<SqlBool>`status in ('open', 'claimed', 'snoozed', 'dispatching')`)
    .where((eb) => eb.and(conditions({ ...filter, tenant_id: tenantId })))
    .where(isLater('callback_tasks', 'sla_due_at', page.after))
    .orderBy('sla_due_at')
    .orderBy('id')
    .limit(page.limit + 1)
    .offset(page.offset)
  return fittingRows(db, query, LONG, page.limit)
}

const LONG = ['summary', 'notes', 'metadata']

/** A page of the tenant's tasks, newest first. */
export async function listCallbackTasks(
  db: Db,
  tenantId: TenantId,
  filter: TaskFilter,
  page: PageRequest,
): Promise<FittingRows<CallbackTaskRow>> {
  return listCallbackTasksAcrossTenants(db, { ...filter, tenant_id: tenantId }, page)
}

/** The same over all tenants, for administrators. */
export async function listCallbackTasksAcrossTenants(
  db: Db,
  filter: TaskFilter,
  page: PageRequest,
): Promise<FittingRows<CallbackTaskRow>> {
  const query = db
    .selectFrom('callback_tasks')
    .selectAll()
    .where((eb) => eb.and(conditions(filter)))
    .$call(newestFirst('callback_tasks', page))
  return fittingRows(db, query, LONG, page.limit)
}

function conditions(filter: TaskFilter): Expression<SqlBool>[] {
  return Object.entries(filter).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(`callback_tasks.${column}`)} = ${value}`],
  )
}

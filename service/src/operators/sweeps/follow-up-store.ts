import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallbackTaskId, CallbackTaskRow } from '../callback-task-store.ts'
import type { TaskStatus } from '../callback-task-values.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'
import { cutOf, latestOf, listTenantsWithTaskAcrossTenants, type QueueCut } from './swept-queue-store.ts'

/** What sweeps did about a task that is no change of it. */
type FollowUpRow = {
  tenant_id: TenantId
  task_id: CallbackTaskId
  reminded_at: Date | null
  escalated_at: Date | null
  refused_at: Date | null
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    callback_task_follow_ups: FollowUpRow
  }
}

type FollowUp = Pick<FollowUpRow, 'reminded_at' | 'escalated_at' | 'refused_at'>

/** What sweeps did about the tenant's task so far. */
export async function findFollowUp(db: Db, tenantId: TenantId, taskId: CallbackTaskId): Promise<FollowUp> {
  const row = await db
    .selectFrom('callback_task_follow_ups')
    .select(['reminded_at', 'escalated_at', 'refused_at'])
    .where('tenant_id', '=', tenantId)
    .where('task_id', '=', taskId)
    .executeTakeFirst()
  return row ?? { reminded_at: null, escalated_at: null, refused_at: null }
}

/**
 * Notes that somebody was reminded of a task, that it was escalated or refused, with the task too, by which it is found: the task
 * first, as whoever has taken it holds it, so that two sweeps that are at one task do not wait for each other.
 *
 * @returns false for a task that was erased since it was found: nothing is noted of it.
 */
export async function noteTold(
  tx: Tx,
  tenantId: TenantId,
  taskId: CallbackTaskId,
  told: Partial<FollowUp>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('callback_tasks')
    .set(told)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', taskId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await noteFollowUp(tx, tenantId, taskId, told)
  return true
}

/** With another time by which it is to be done a task may be too late once more. */
export async function forgetEscalation(tx: Tx, tenantId: TenantId, taskId: CallbackTaskId): Promise<void> {
  const { escalated_at } = await findFollowUp(tx, tenantId, taskId)
  if (escalated_at !== null) await noteTold(tx, tenantId, taskId, { escalated_at: null })
}

/** Notes what a sweep did about a task. */
async function noteFollowUp(
  db: Db,
  tenantId: TenantId,
  taskId: CallbackTaskId,
  done: Partial<FollowUp>,
): Promise<void> {
  const nothing = { reminded_at: null, escalated_at: null, refused_at: null }
  await db
    .insertInto('callback_task_follow_ups')
    .values({ ...nothing, ...done, tenant_id: tenantId, task_id: taskId })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'task_id']).doUpdateSet(done))
    .execute()
}

/**
 * Keeps a task from changing until the transaction ends, if it has one of these statuses.
 *
 * @returns the task; null when it has not, or another transaction keeps it: whoever sweeps at the same time is at it.
 */
export async function takeTask(
  tx: Tx,
  tenantId: TenantId,
  id: CallbackTaskId,
  from: readonly TaskStatus[],
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .selectFrom('callback_tasks')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', 'in', from)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row ?? null
}

/** What is looked for: tasks put off until now, claimed ones that are due, and ones that should have been done. */
export type FollowUpKind = 'snoozed' | 'claimed' | 'late'

/** Since when a claimed task has waited for somebody to be reminded of it. As its index has it. */
const WAITED_SINCE = sql<Date>`greatest(coalesce(task.due_at, task.claimed_at), task.reminded_at)`

/** Each as its index has it. What a node of the version before has done is noted beside the task alone. */
const DUE = {
  snoozed: (now: Date) => sql<SqlBool>`task.status = 'snoozed' and task.snoozed_until <= ${now}`,
  claimed: (now: Date) => sql<SqlBool>`task.status = 'claimed' and ${WAITED_SINCE} <= ${now}`,
  late: (now: Date) => sql<SqlBool>`task.status in ('open', 'claimed', 'dispatching') and task.sla_due_at <= ${now}
    and task.escalated_at is null
    and not exists (select from callback_task_follow_ups f
                     where f.tenant_id = task.tenant_id and f.task_id = task.id and f.escalated_at is not null)`,
} satisfies Record<FollowUpKind, unknown>

/** The tenants that have such tasks. */
export function listFollowUpTenantsAcrossTenants(db: Db, kind: FollowUpKind, now: Date): Promise<TenantId[]> {
  return listTenantsWithTaskAcrossTenants(db, DUE[kind](now))
}

/** The tenant's tasks that were put off until now, the longest ago first. */
export async function listSnoozeEnds(
  db: Db,
  tenantId: TenantId,
  { now, limit, except }: TaskPage & { now: Date },
): Promise<SweptTask[]> {
  const { rows } = await sql<SweptTask>`
    select task.id, task.queue_key
      from callback_tasks task
     where task.tenant_id = ${tenantId} and ${DUE.snoozed(now)} and task.id <> all (${except}::uuid[])
     order by task.snoozed_until, task.id
     limit ${limit}
  `.execute(db)
  return rows
}

/**
 * The tenant's claimed tasks of which to remind whoever has them, those that have waited longest first. `cuts`: the instants by
 * which a task of each queue must have been due and claimed, and its last reminder sent.
 */
export async function listToRemind(
  db: Db,
  tenantId: TenantId,
  { cuts, limit, except }: TaskPage & { cuts: QueueCut[] },
): Promise<SweptTask[]> {
  const { rows } = await sql<SweptTask>`
    select task.id, task.queue_key
      from callback_tasks task
     where task.tenant_id = ${tenantId} and task.status = 'claimed'
       and ${WAITED_SINCE} <= ${latestOf(cuts)} and ${WAITED_SINCE} <= ${cutOf(cuts)} and task.claimed_at <= ${cutOf(cuts)}
       and not exists (select from callback_task_follow_ups done
                        where done.tenant_id = task.tenant_id and done.task_id = task.id and done.reminded_at > ${cutOf(cuts)})
       and task.id <> all (${except}::uuid[])
     order by ${WAITED_SINCE}, task.id
     limit ${limit}
  `.execute(db)
  return rows
}

/** A task that should have been done. */
export type LateTask = SweptTask & Pick<CallbackTaskRow, 'sla_due_at'>

/** The tasks of a queue that should have been done by an instant and were not escalated for that, the oldest first. */
export async function listToEscalate(
  db: Db,
  tenantId: TenantId,
  { queueKey, before, limit, except }: TaskPage & { queueKey: string; before: Date },
): Promise<LateTask[]> {
  const { rows } = await sql<LateTask>`
    select task.id, task.queue_key, task.sla_due_at
      from callback_tasks task
     where task.tenant_id = ${tenantId} and task.queue_key = ${queueKey} and ${DUE.late(before)}
       and task.id <> all (${except}::uuid[])
     order by task.sla_due_at, task.id
     limit ${limit}
  `.execute(db)
  return rows
}

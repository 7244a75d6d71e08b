import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallbackTaskId, CallbackTaskRow } from '../callback-task-store.ts'
import type { TaskStatus } from '../callback-task-values.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'

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

/** Notes what a sweep did about a task. */
export async function noteFollowUp(
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

/** Each as its index has it. */
const DUE = {
  snoozed: (now: Date) => sql<SqlBool>`task.status = 'snoozed' and task.snoozed_until <= ${now}`,
  claimed: (now: Date) => sql<SqlBool>`task.status = 'claimed' and coalesce(task.due_at, task.claimed_at) <= ${now}`,
  late: (now: Date) => sql<SqlBool>`task.status in ('open', 'claimed', 'dispatching') and task.sla_due_at <= ${now}
    and not exists (select from callback_task_follow_ups f
                     where f.tenant_id = task.tenant_id and f.task_id = task.id and f.escalated_at is not null)`,
} satisfies Record<FollowUpKind, unknown>

/** The tenants that have such tasks. */
export async function listFollowUpTenantsAcrossTenants(db: Db, kind: FollowUpKind, now: Date): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('callback_tasks as task')
    .select('task.tenant_id')
    .distinct()
    .where(DUE[kind](now))
    .orderBy('task.tenant_id')
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The queues of a tenant that have such tasks. */
export async function listFollowUpQueues(
  db: Db,
  tenantId: TenantId,
  { kind, now }: { kind: FollowUpKind; now: Date },
): Promise<string[]> {
  const rows = await db
    .selectFrom('callback_tasks as task')
    .select('task.queue_key')
    .distinct()
    .where('task.tenant_id', '=', tenantId)
    .where(DUE[kind](now))
    .execute()
  return rows.map(({ queue_key }) => queue_key)
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

/** A queue, and the instant by which a task of it must have been due, and its last reminder sent. */
export type ReminderCut = { queueKey: string; before: Date }

/** The tenant's claimed tasks of which to remind whoever has them, those that have waited longest first. */
export async function listToRemind(
  db: Db,
  tenantId: TenantId,
  { cuts, limit, except }: TaskPage & { cuts: ReminderCut[] },
): Promise<SweptTask[]> {
  const keys = cuts.map(({ queueKey }) => queueKey)
  const instants = cuts.map(({ before }) => before.toISOString())
  const { rows } = await sql<SweptTask>`
    select task.id, task.queue_key
      from callback_tasks task
      join unnest(${keys}::text[], ${instants}::timestamptz[]) as cut (queue_key, before)
        on cut.queue_key = task.queue_key
      left join callback_task_follow_ups done on done.tenant_id = task.tenant_id and done.task_id = task.id
     where task.tenant_id = ${tenantId} and task.status = 'claimed'
       and coalesce(task.due_at, task.claimed_at) <= cut.before
       and (done.reminded_at is null or done.reminded_at <= cut.before)
       and task.id <> all (${except}::uuid[])
     order by coalesce(done.reminded_at, task.due_at, task.claimed_at), task.id
     limit ${limit}
  `.execute(db)
  return rows
}

/** A task that should have been done. */
export type LateTask = SweptTask & Pick<CallbackTaskRow, 'sla_due_at'>

/** The tasks of a queue that should have been done by an instant and were never escalated, the oldest first. */
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

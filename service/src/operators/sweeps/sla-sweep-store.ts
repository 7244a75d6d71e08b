import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallbackTaskRow } from '../callback-task-store.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'

/** A task that should be done by now. */
export type OverdueTask = SweptTask & Pick<CallbackTaskRow, 'sla_due_at'>

/** Until when the SLA clock of a queue has run: what should have been done before is overdue. */
export type QueueCut = { queueKey: string; before: Date }

/** Written out, so that the index of overdue tasks serves. A snoozed task is not waited for. */
const isWaitedFor = sql<SqlBool>`status in ('open', 'claimed', 'dispatching')`

/** Whether somebody was told already that the task was not done by this time. */
function wasAlerted(alerted: boolean) {
  return alerted
    ? sql<SqlBool>`last_sla_alert_due_at = sla_due_at`
    : sql<SqlBool>`last_sla_alert_due_at is distinct from sla_due_at`
}

/** The tenants with tasks whose time is over by the calendar, alerted or not. */
export async function listOverdueTenantsAcrossTenants(db: Db, now: Date, alerted: boolean): Promise<TenantId[]> {
  const rows = await db
    .selectFrom('callback_tasks')
    .select('tenant_id')
    .distinct()
    .where(isWaitedFor)
    .where('sla_due_at', '<', now)
    .where(wasAlerted(alerted))
    .orderBy('tenant_id')
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The queues of a tenant with such tasks. */
export async function listOverdueQueues(
  db: Db,
  tenantId: TenantId,
  { now, alerted }: { now: Date; alerted: boolean },
): Promise<string[]> {
  const rows = await db
    .selectFrom('callback_tasks')
    .select('queue_key')
    .distinct()
    .where('tenant_id', '=', tenantId)
    .where(isWaitedFor)
    .where('sla_due_at', '<', now)
    .where(wasAlerted(alerted))
    .execute()
  return rows.map(({ queue_key }) => queue_key)
}

/** The tenant's overdue tasks, those that have waited longest first. */
export async function listOverdueTasks(
  db: Db,
  tenantId: TenantId,
  { cuts, alerted, limit, except }: TaskPage & { cuts: QueueCut[]; alerted: boolean },
): Promise<OverdueTask[]> {
  const keys = cuts.map(({ queueKey }) => queueKey)
  const instants = cuts.map(({ before }) => before.toISOString())
  const { rows } = await sql<OverdueTask>`
    select id, queue_key, sla_due_at
      from callback_tasks
      join unnest(${keys}::text[], ${instants}::timestamptz[]) as cut (queue_key, before) using (queue_key)
     where tenant_id = ${tenantId} and ${isWaitedFor} and sla_due_at < cut.before and ${wasAlerted(alerted)}
       and id <> all (${except}::uuid[])
     order by sla_due_at, id
     limit ${limit}
  `.execute(db)
  return rows
}

/**
 * Notes that somebody is told that a task was not done in time: one statement, once for each time by which it is to be done.
 *
 * @returns the task as it is now; null when that is noted already, nobody waits for the task, or another one is at it.
 */
export async function noteAlert(
  tx: Tx,
  tenantId: TenantId,
  task: OverdueTask,
  now: Date,
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .updateTable('callback_tasks')
    .set({ last_sla_alert_due_at: task.sla_due_at, last_sla_alerted_at: now, updated_at: now })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', (eb) =>
      eb
        .selectFrom('callback_tasks as overdue')
        .select('overdue.id')
        .where('overdue.tenant_id', '=', tenantId)
        .where('overdue.id', '=', task.id)
        .where('overdue.sla_due_at', '=', task.sla_due_at)
        .where(isWaitedFor)
        .where(wasAlerted(false))
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallbackTaskRow } from '../callback-task-store.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'
import { cutOf, latestOf, listTenantsWithTaskAcrossTenants, type QueueCut } from './swept-queue-store.ts'

/** A task that should be done by now. */
export type OverdueTask = SweptTask & Pick<CallbackTaskRow, 'sla_due_at'>

/** Written out, so that the indexes serve. A snoozed task is not waited for. */
const isWaitedFor = sql<SqlBool>`status in ('open', 'claimed', 'dispatching')`

/** Whether somebody was told already that the task was not done by this time. */
function wasAlerted(alerted: boolean) {
  return alerted
    ? sql<SqlBool>`last_sla_alert_due_at = sla_due_at`
    : sql<SqlBool>`last_sla_alert_due_at is distinct from sla_due_at`
}

/** The tenants with tasks whose time is over by the calendar, alerted or not. */
export function listOverdueTenantsAcrossTenants(db: Db, now: Date, alerted: boolean): Promise<TenantId[]> {
  const isOverdue = sql<SqlBool>`${isWaitedFor} and sla_due_at < ${now} and ${wasAlerted(alerted)}`
  return listTenantsWithTaskAcrossTenants(db, isOverdue)
}

/** The tenant's overdue tasks, those that have waited longest first. `cuts`: until when the SLA clock of each queue has run. */
export async function listOverdueTasks(
  db: Db,
  tenantId: TenantId,
  { cuts, alerted, limit, except }: TaskPage & { cuts: QueueCut[]; alerted: boolean },
): Promise<OverdueTask[]> {
  const { rows } = await sql<OverdueTask>`
    select id, queue_key, sla_due_at
      from callback_tasks
     where tenant_id = ${tenantId} and ${isWaitedFor} and ${wasAlerted(alerted)}
       and sla_due_at < ${latestOf(cuts)} and sla_due_at < ${cutOf(cuts)}
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

import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallbackTaskId } from '../callback-task-store.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'

/** What is known of the ticket that a task names. */
type TaskTicketRow = {
  tenant_id: TenantId
  task_id: CallbackTaskId
  checked_at: Date | null
  checking_until: Date | null
  completed_at: Date | null
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    callback_task_tickets: TaskTicketRow
  }
}

/** A task and the ticket that it names. */
export type TicketedTask = SweptTask & { ticket_id: string; checked_at: Date | null }

/** Which tasks: those that nobody has asked about since `checkedBefore`, and completed ones only until they are this old. */
export type TicketPage = TaskPage & { now: Date; checkedBefore: Date; completedAfter: Date }

/** Nobody else asks about it now. */
const isFree = (now: Date) => sql<SqlBool>`(ticket.checking_until is null or ticket.checking_until <= ${now})`

/** As the index `callback_tasks_to_reconcile` has it. */
const NAMES_A_TICKET = sql<SqlBool>`
  task.metadata ? 'external_ticket' and jsonb_typeof(task.metadata -> 'external_ticket' -> 'id') in ('string', 'number')`

/**
 * The tenant's tasks that name a ticket and can follow it: those that are not done, and those that were completed because it was
 * closed. What was asked about the longest ago comes first.
 */
export async function listTicketedTasks(
  db: Db,
  tenantId: TenantId,
  { now, checkedBefore, completedAfter, limit, except }: TicketPage,
): Promise<TicketedTask[]> {
  const isDue = sql<SqlBool>`
    (ticket.checked_at is null or ticket.checked_at <= ${checkedBefore}) and ${isFree(now)} and task.id <> all (${except}::uuid[])`
  // What a task says of its ticket is read of those alone that are taken: their index has all that goes before.
  const { rows } = await sql<TicketedTask>`
    with due as (
      select task.id, task.queue_key, ticket.checked_at
        from callback_tasks task
        left join callback_task_tickets ticket on ticket.tenant_id = ${tenantId} and ticket.task_id = task.id
       where task.tenant_id = ${tenantId} and ${NAMES_A_TICKET} and task.status in ('open', 'claimed', 'snoozed') and ${isDue}
      union all
      select task.id, task.queue_key, ticket.checked_at
        from callback_task_tickets ticket
        join callback_tasks task on task.tenant_id = ticket.tenant_id and task.id = ticket.task_id
       where ticket.tenant_id = ${tenantId} and ticket.completed_at > ${completedAfter} and ${NAMES_A_TICKET}
         and task.status = 'completed' and task.completed_at = ticket.completed_at and ${isDue}
       order by checked_at nulls first, id
       limit ${limit}
    )
    select due.id, due.queue_key, due.checked_at, task.metadata -> 'external_ticket' ->> 'id' as ticket_id
      from due
      join callback_tasks task on task.tenant_id = ${tenantId} and task.id = due.id
     order by due.checked_at nulls first, due.id
  `.execute(db)
  return rows
}

/** Says that we ask about a task's ticket now; false when somebody else does, or has since it was listed, and for a task that was erased since. */
export async function beginCheck(
  db: Db,
  tenantId: TenantId,
  { id, checked_at }: TicketedTask,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into callback_task_tickets as ticket (tenant_id, task_id, checking_until)
    select task.tenant_id, task.id, ${until}::timestamptz from callback_tasks task
     where task.tenant_id = ${tenantId} and task.id = ${id} for key share
    on conflict (tenant_id, task_id) do update set checking_until = excluded.checking_until
      where ${isFree(now)} and ticket.checked_at is not distinct from ${checked_at}::timestamptz
    returning task_id
  `.execute(db)
  return rows.length > 0
}

/** Notes that a ticket was asked about, and with `completed_at` what that made of the task. */
export async function endCheck(
  db: Db,
  tenantId: TenantId,
  taskId: CallbackTaskId,
  noted: { checked_at: Date; completed_at?: Date | null },
): Promise<void> {
  await db
    .updateTable('callback_task_tickets')
    .set({ ...noted, checking_until: null })
    .where('tenant_id', '=', tenantId)
    .where('task_id', '=', taskId)
    .execute()
}

/** When a task was completed because its ticket was closed; null when it was not. */
export async function findTicketCompletion(tx: Tx, tenantId: TenantId, taskId: CallbackTaskId): Promise<Date | null> {
  const row = await tx
    .selectFrom('callback_task_tickets')
    .select('completed_at')
    .where('tenant_id', '=', tenantId)
    .where('task_id', '=', taskId)
    .executeTakeFirst()
  return row?.completed_at ?? null
}

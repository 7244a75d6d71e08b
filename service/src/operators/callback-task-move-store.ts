import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import { type PhoneNumber, spellingsOf } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { isInCall } from '../records/live-call-store.ts'
import type { CallbackTaskId, CallbackTaskRow } from './callback-task-store.ts'
import { LIVE_STATUSES, TASK_PRIORITIES, type TaskStatus } from './callback-task-values.ts'

/** What of a task a change may set. */
export type TaskSettings = Partial<Omit<CallbackTaskRow, 'tenant_id' | 'id' | 'created_at'>>

/**
 * Changes a task if its status is one of `from`: one statement, so of several at once one wins.
 *
 * @returns the task as it is now; null when there is none, or it has another status.
 */
export async function moveTask(
  tx: Tx,
  tenantId: TenantId,
  id: CallbackTaskId,
  { from, set }: { from: readonly TaskStatus[]; set: TaskSettings },
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .updateTable('callback_tasks')
    .set(set)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', 'in', from)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** The open and snoozed tasks of a number, however it was kept with them, held until the transaction ends. One that somebody else is changing is left out. */
export async function lockWaitingTasks(tx: Tx, tenantId: TenantId, phone: PhoneNumber): Promise<CallbackTaskId[]> {
  const rows = await tx
    .selectFrom('callback_tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(sql<SqlBool>`customer_phone = any(${spellingsOf(phone)}::text[])`)
    .where('status', 'in', ['open', 'snoozed'])
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Notes on the tasks of a number that somebody is at, or that are being dispatched, that it is not to be called any more: as of when it was
 * listed at least, which by another node's clock, or while this waited, may have been later than now.
 */
export async function markUnwanted(tx: Tx, tenantId: TenantId, phone: PhoneNumber, now: Date): Promise<void> {
  await sql`
    update callback_tasks
       set unwanted_at = greatest(${now}, (select max(created_at) from do_not_call
                                            where tenant_id = ${tenantId} and phone = any(${spellingsOf(phone)}::text[])))
     where tenant_id = ${tenantId}
       and id in (select id from callback_tasks
                   where tenant_id = ${tenantId} and customer_phone = any(${spellingsOf(phone)}::text[])
                     and status in ('claimed', 'dispatching')
                     for update skip locked)`.execute(tx)
}

/**
 * The tasks of a number, made by then, of which it is not known that it is not to be called: those that somebody else was changing when
 * that was noted of the others.
 */
export async function listUnnotedTasks(
  db: Db,
  tenantId: TenantId,
  { phone, madeBy }: { phone: PhoneNumber; madeBy: Date },
): Promise<CallbackTaskId[]> {
  const rows = await db
    .selectFrom('callback_tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(sql<SqlBool>`customer_phone = any(${spellingsOf(phone)}::text[])`)
    .where('status', 'in', LIVE_STATUSES)
    .where('unwanted_at', 'is', null)
    .where('created_at', '<=', madeBy)
    .execute()
  return rows.map(({ id }) => id)
}

type Beginning = { operator: string | null; now: Date; callLogId: string; dueIn: string | null }

/**
 * Has an open task, or one that the operator has claimed, dispatched: one statement.
 *
 * @param dueIn only if it is due, and in this queue yet; null: in any, at any time.
 * @returns the task as it is now; null when it is not to be dispatched, or not by this operator, or its customer has another
 *   call than the one of this log.
 */
export async function beginDispatch(
  tx: Tx,
  tenantId: TenantId,
  id: CallbackTaskId,
  { operator, now, callLogId, dueIn }: Beginning,
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .updateTable('callback_tasks')
    .set((eb) => ({
      status: 'dispatching',
      dispatch_attempt_count: eb('dispatch_attempt_count', '+', 1),
      last_dispatch_attempted_at: now,
      last_dispatch_call_sid: null,
      last_dispatch_status: 'queued',
      refused_at: null,
      updated_at: now,
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('status', '=', 'open'), eb.and([eb('status', '=', 'claimed'), eb('assigned_to', '=', operator)])]),
    )
    .where((eb) => eb.not(isInCall(tenantId, 'callback_tasks.customer_phone', { now, exceptLogId: callLogId })))
    .$if(dueIn !== null, (query) =>
      query
        .where('queue_key', '=', dueIn ?? '')
        .where((eb) => eb.or([eb('due_at', 'is', null), eb('due_at', '<=', now)])),
    )
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** Which task of a queue comes next: the most urgent, then the one whose time is over first, then the oldest. As the index has it. */
export const RANK = sql`array_position(array[${sql.join(TASK_PRIORITIES.map((priority) => sql.lit(priority)))}], priority)`

/**
 * Gives the next open task of a queue that is due to an operator: one statement. Several at once get different ones.
 *
 * @returns the task as it is now; null when the queue has none.
 */
export async function claimNextTask(
  tx: Tx,
  tenantId: TenantId,
  queueKey: string,
  { now, set }: { now: Date; set: TaskSettings },
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .updateTable('callback_tasks')
    .set(set)
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'open')
    .where('id', '=', (eb) =>
      eb
        .selectFrom('callback_tasks as next')
        .select('next.id')
        .where('next.tenant_id', '=', tenantId)
        .where('next.queue_key', '=', queueKey)
        .where('next.status', '=', 'open')
        .where((due) => due.or([due('next.due_at', 'is', null), due('next.due_at', '<=', now)]))
        .orderBy(RANK)
        .orderBy('next.sla_due_at')
        .orderBy('next.created_at')
        .orderBy('next.id')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

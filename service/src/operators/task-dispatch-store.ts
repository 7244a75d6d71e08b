import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { OVER_STATUSES } from '../records/call-status.ts'
import type { CallStatus } from '../records/call-values.ts'
import type { OneCall } from '../records/ended-calls.ts'
import { HAD_NO_AGENT, IS_SESSION_OVER } from '../records/session-outcome-store.ts'
import type { CallbackTaskId, CallbackTaskRow } from './callback-task-store.ts'
import type { TaskStatus } from './callback-task-values.ts'

/** A call by which a task was dispatched. */
type DispatchRow = {
  tenant_id: TenantId
  call_log_id: string
  task_id: CallbackTaskId
  /** That of the task, as long as it is its newest dispatch. */
  attempted_at: Date
  /** When what became of it was taken note of; null before. */
  settled_at: Date | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    callback_task_dispatches: DispatchRow
  }
}

export async function insertDispatch(
  tx: Tx,
  tenantId: TenantId,
  dispatch: Pick<DispatchRow, 'call_log_id' | 'task_id' | 'attempted_at'>,
): Promise<void> {
  await tx
    .insertInto('callback_task_dispatches')
    .values({ ...dispatch, tenant_id: tenantId, settled_at: null })
    .execute()
}

/** Whether the call is one by which a task was dispatched. */
export async function isDispatch(db: Db, tenantId: TenantId, callLogId: string): Promise<boolean> {
  const row = await db
    .selectFrom('callback_task_dispatches')
    .select('task_id')
    .where('tenant_id', '=', tenantId)
    .where('call_log_id', '=', callLogId)
    .executeTakeFirst()
  return row !== undefined
}

/** Notes by which call a task is dispatched, unless there is a newer one. */
export async function noteDispatchCall(
  db: Db,
  tenantId: TenantId,
  call: { callLogId: string; callSid: string | null },
): Promise<void> {
  await db
    .updateTable('callback_tasks')
    .from('callback_task_dispatches as dispatch')
    .set({ last_dispatch_call_sid: call.callSid })
    .where('callback_tasks.tenant_id', '=', tenantId)
    .where('dispatch.tenant_id', '=', tenantId)
    .where('dispatch.call_log_id', '=', call.callLogId)
    .whereRef('dispatch.task_id', '=', 'callback_tasks.id')
    .whereRef('dispatch.attempted_at', '=', 'callback_tasks.last_dispatch_attempted_at')
    .execute()
}

/** A dispatch whose call is over, and how that ended. */
export type EndedDispatch = Pick<DispatchRow, 'tenant_id' | 'call_log_id' | 'task_id' | 'attempted_at'> & {
  call_sid: string | null
  status: CallStatus
  answered_by: string | null
  error_code: string | null
  had_no_agent: boolean
}

/** Where a page of dispatches ends. */
export type DispatchPosition = Pick<EndedDispatch, 'attempted_at' | 'call_log_id'>

/**
 * Dispatches of which nobody has taken note that their calls and their sessions are over, the oldest first. Over all tenants; with `of`
 * that of one call, if it is one.
 */
export async function listEndedDispatchesAcrossTenants(
  db: Db,
  { limit, after, of = null }: { limit: number; after: DispatchPosition | null; of?: OneCall | null },
): Promise<EndedDispatch[]> {
  const behind = after
    ? sql<SqlBool>`(dispatch.attempted_at, dispatch.call_log_id) > (${after.attempted_at}, ${after.call_log_id}::uuid)`
    : sql<SqlBool>`true`
  const isMeant = of
    ? sql<SqlBool>`log.tenant_id = ${of.tenantId} and log.call_sid = ${of.callSid}`
    : sql<SqlBool>`true`
  return db
    .selectFrom('callback_task_dispatches as dispatch')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'dispatch.tenant_id').onRef('log.id', '=', 'dispatch.call_log_id'),
    )
    .leftJoin('voice_sessions as session', (join) =>
      join.onRef('session.tenant_id', '=', 'log.tenant_id').onRef('session.id', '=', 'log.voice_session_id'),
    )
    .select(['dispatch.tenant_id', 'dispatch.call_log_id', 'dispatch.task_id', 'dispatch.attempted_at'])
    .select(['log.call_sid', 'log.status', 'log.answered_by', 'log.error_code'])
    .select(HAD_NO_AGENT.as('had_no_agent'))
    .where('dispatch.settled_at', 'is', null)
    .where('log.status', 'in', OVER_STATUSES)
    .where(IS_SESSION_OVER)
    .where(behind)
    .where(isMeant)
    .orderBy('dispatch.attempted_at')
    .orderBy('dispatch.call_log_id')
    .limit(limit)
    .execute()
}

/** Takes note that a dispatch is over; false when somebody has done so already. Of several at once one does. */
export async function settleDispatch(tx: Tx, tenantId: TenantId, callLogId: string, now: Date): Promise<boolean> {
  const row = await tx
    .updateTable('callback_task_dispatches')
    .set({ settled_at: now })
    .where('tenant_id', '=', tenantId)
    .where('call_log_id', '=', callLogId)
    .where('settled_at', 'is', null)
    .returning('call_log_id')
    .executeTakeFirst()
  return row !== undefined
}

/** A dispatch of which note was taken that it is over. */
type SettledDispatch = Pick<DispatchRow, 'task_id' | 'attempted_at'> & { settled_at: Date }

/** Takes back that a dispatch is over. @returns it as it was; null when nobody had taken note of that. */
export async function unsettleDispatch(tx: Tx, tenantId: TenantId, callLogId: string): Promise<SettledDispatch | null> {
  const isMeant = sql<SqlBool>`tenant_id = ${tenantId} and call_log_id = ${callLogId} and settled_at is not null`
  const settled = await tx
    .selectFrom('callback_task_dispatches')
    .select(['task_id', 'attempted_at', 'settled_at'])
    .where(isMeant)
    .forUpdate()
    .executeTakeFirst()
  if (!settled?.settled_at) return null
  await tx.updateTable('callback_task_dispatches').set({ settled_at: null }).where(isMeant).execute()
  return { ...settled, settled_at: settled.settled_at }
}

/** The task of a dispatch that is its newest: open, or cancelled by nobody but by what was made of that dispatch's end. */
export async function findRevivable(
  tx: Tx,
  tenantId: TenantId,
  { task_id, attempted_at, settled_at }: SettledDispatch,
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .selectFrom('callback_tasks')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', task_id)
    .where('last_dispatch_attempted_at', '=', attempted_at)
    .where((eb) =>
      eb.or([eb('status', '=', 'open'), eb.and([eb('status', '=', 'cancelled'), eb('updated_at', '=', settled_at)])]),
    )
    .executeTakeFirst()
  return row ?? null
}

/** A task that was dispatched once more. `isInVain`: nobody but the end of its newest dispatch has left it as it is, open or cancelled. */
export type DispatchedAgain = { status: TaskStatus; isInVain: boolean }

/** The task of a dispatch that is not its newest, kept from changing until the transaction ends; null for one that is. */
export async function lockDispatchedAgain(
  tx: Tx,
  { tenant_id, task_id, attempted_at }: EndedDispatch,
): Promise<DispatchedAgain | null> {
  const { rows } = await sql<DispatchedAgain>`
    select status, status = 'open' or status = 'cancelled' and exists (
             select from callback_task_dispatches newest
              where newest.tenant_id = task.tenant_id and newest.task_id = task.id
                and newest.attempted_at = task.last_dispatch_attempted_at and newest.settled_at = task.updated_at
           ) as "isInVain"
      from callback_tasks task
     where tenant_id = ${tenant_id} and id = ${task_id} and last_dispatch_attempted_at <> ${attempted_at}
       for update`.execute(tx)
  return rows[0] ?? null
}

/**
 * Notes on a task how its newest dispatch ended; null when it was another one. `isAttempt`: one that was none is not counted any
 * more, unless somebody has its attempts counted anew.
 */
export async function noteDispatchEnd(
  tx: Tx,
  { tenant_id, task_id, attempted_at, call_sid, status }: EndedDispatch,
  isAttempt: boolean,
): Promise<CallbackTaskRow | null> {
  const row = await tx
    .updateTable('callback_tasks')
    .set({
      ...{ last_dispatch_status: status, last_dispatch_call_sid: call_sid },
      ...(!isAttempt && { dispatch_attempt_count: sql<number>`greatest(dispatch_attempt_count - 1, 0)` }),
    })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', task_id)
    .where('last_dispatch_attempted_at', '=', attempted_at)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

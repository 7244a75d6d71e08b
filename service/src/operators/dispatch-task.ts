import type { Clock } from '../kernel/clock.ts'
import { AppError, type ErrorCode } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { findCallLog } from '../records/call-log-store.ts'
import { isInDoubt, lockNumber } from '../records/live-call-store.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { beginDispatch } from './callback-task-move-store.ts'
import type { Actor } from './callback-task-moves.ts'
import type { CallbackTaskId, CallbackTaskRow } from './callback-task-store.ts'
import { expectTask, refusedMove, tellTaskChange } from './change-callback-task.ts'
import { findQueue } from './operator-queue-store.ts'
import { insertDispatch, noteDispatchCall } from './task-dispatch-store.ts'

/** The call by which a task is dispatched. */
export type TaskCall = {
  taskId: CallbackTaskId
  to: PhoneNumber
  /**
   * The keys of who is to speak, the first one that can; null is the tenant's own agent. After them comes the agent of the route
   * from which the tenant's calls come.
   */
  speakers: (string | null)[]
  metadata: Record<string, unknown>
  /** Done in the transaction that writes the call down, once it has passed the dial gate: what it throws undoes the call. */
  onQueued(tx: Tx, callLogId: string): Promise<void>
}

/**
 * Places such a call, and gives its id once the carrier has taken it. It throws what `MakeCall` throws, and AppError `no_agent`
 * when nobody could speak.
 */
export type PlaceTaskCall = (
  tenant: TenantRuntime,
  call: TaskCall,
) => Promise<{ callLogId: string; callSid: string | null }>

/** Why such a call could not be placed now: what the dial gate says, or that nobody could speak. */
export type TaskCallRefusal = { code: ErrorCode; reason: string }

/** Says whether such a call would be placed now; null when nothing speaks against it. Nothing is written. */
export type CheckTaskCall = (tenant: TenantRuntime, call: Omit<TaskCall, 'onQueued'>) => Promise<TaskCallRefusal | null>

/**
 * Has an agent call the customer of a task that is open, or claimed by the same operator. The task is `dispatching` from the
 * transaction on that writes the call down, until it is known what became of that.
 *
 * @returns the task as it is then.
 * @throws AppError `not_found`; `conflict` when it is not to be dispatched, or not by this operator, or when the customer has a
 *   call now; a code of the dial gate, after which nothing has changed; what the carrier says, after which the attempt counts.
 */
export type DispatchTask = (
  tenantId: TenantId,
  id: CallbackTaskId,
  actor: Actor,
  how?: Partial<DispatchHow>,
) => Promise<CallbackTaskRow>

/**
 * `isTold`: whether the tenant's webhook is told that it was dispatched; it is. `ifIn`: only if the task is in this queue yet,
 * and due, for somebody else may have been at it since it was looked for; null, as by default, for whichever it is in.
 * `onTold`: hears how many webhooks tell of it, also when the carrier refuses the call then.
 */
export type DispatchHow = { isTold: boolean; ifIn: string | null; onTold(webhooks: number): void }

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  place: PlaceTaskCall
  /** Looks at once for dispatches whose calls are over; never rejects. */
  settle(): Promise<void>
}

type Beginning = DispatchHow & { callLogId: string; actor: Actor }

const DISPATCHABLE = ['open', 'claimed'] as const

export function makeDispatchTask({ db, clock, tenants, place, settle }: Deps): DispatchTask {
  /** @throws AppError `conflict` when another request was faster. */
  async function begin(tx: Tx, tenant: TenantRuntime, task: CallbackTaskRow, of: Beginning) {
    const { tenant_id: tenantId } = tenant
    const now = new Date(clock.now())
    const { callLogId, ifIn: dueIn, onTold } = of
    await lockNumber(tx, tenantId, task.customer_phone)
    const begun = await beginDispatch(tx, tenantId, task.id, { operator: of.actor.operator, now, callLogId, dueIn })
    if (!begun) {
      const found = await expectTask(tx, tenantId, task.id)
      const isDoubted = await isInDoubt(tx, tenantId, task.customer_phone, now)
      throw isDoubted && mayDispatch(found, of.actor) ? inDoubt() : refusal(found, of.actor)
    }
    await insertDispatch(tx, tenantId, { call_log_id: callLogId, task_id: task.id, attempted_at: now })
    const change = { action: 'dispatch' as const, ...of.actor, details: { attempt: begun.dispatch_attempt_count } }
    const event = of.isTold ? ('callback.task.dispatched' as const) : null
    onTold(await tellTaskChange(tx, tenant, { task: begun, change, event }, now))
  }

  return async (tenantId, id, actor, { isTold = true, ifIn = null, onTold = () => {} } = {}) => {
    const tenant = await knownTenant(tenants, tenantId)
    const task = await expectTask(db, tenantId, id)
    if (!mayDispatch(task, actor)) throw refusal(task, actor)
    const call: TaskCall = {
      ...(await taskCallOf(db, task)),
      onQueued: (tx, callLogId) => begin(tx, tenant, task, { callLogId, actor, isTold, ifIn, onTold }),
    }
    try {
      await noteDispatchCall(db, tenantId, await place(tenant, call))
    } catch (error) {
      // What the carrier refused is over already.
      await settle()
      throw error
    }
    return expectTask(db, tenantId, id)
  }
}

/** The call by which a task would be dispatched. */
export async function taskCallOf(db: Db, task: CallbackTaskRow): Promise<Omit<TaskCall, 'onQueued'>> {
  const { id: taskId, customer_phone: to, metadata } = task
  return { taskId, to, metadata, speakers: await speakersOf(db, task) }
}

/** The agent of the task's queue, else that of the call in which the callback was asked for. */
async function speakersOf(db: Db, task: CallbackTaskRow): Promise<TaskCall['speakers']> {
  const { dispatch_agent_key: queueAgent } = await findQueue(db, task.tenant_id, task.queue_key)
  const log = task.call_sid === null ? null : await findCallLog(db, task.tenant_id, task.call_sid)
  return [...(queueAgent === null ? [] : [queueAgent]), ...(log ? [log.agent_key] : [])]
}

function mayDispatch({ status, assigned_to }: CallbackTaskRow, { operator }: Actor): boolean {
  return status === 'open' || (status === 'claimed' && assigned_to === operator)
}

function inDoubt(): AppError {
  const sentence =
    'It is being found out whether a call to the customer was placed: dispatch the task once that is known, in some two minutes, ' +
    'or an hour where the carrier does not say.'
  return new AppError('conflict', sentence)
}

function refusal(task: CallbackTaskRow, actor: Actor): AppError {
  if (mayDispatch(task, actor)) {
    return new AppError('conflict', 'The customer has a call with you now: dispatch the task once that is over.')
  }
  if (task.status !== 'claimed') return refusedMove(task, 'dispatch', DISPATCHABLE)
  return new AppError('conflict', 'Another operator has claimed the task: only they can dispatch it.')
}

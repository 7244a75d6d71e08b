import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { findCallbackTask } from '../callback-task-store.ts'
import {
  type CheckTaskCall,
  type DispatchHow,
  type DispatchTask,
  type TaskCallRefusal,
  taskCallOf,
} from '../dispatch-task.ts'
import { queuesByKey } from '../operator-queue-store.ts'
import { openQueues } from '../queue-hours.ts'
import {
  listDispatchingQueues,
  listDispatchTenantsAcrossTenants,
  listToDispatch,
  type TaskToDispatch,
} from './dispatch-sweep-store.ts'
import { noteTold } from './follow-up-store.ts'
import {
  type SweepAsk,
  type SweepDeps,
  type SweepResult,
  SweepRun,
  type SweptTask,
  type Taken,
  type TaskPage,
} from './sweep-run.ts'

/** `isDryRun`: nobody is called, and what would be is told. */
export type DispatchAsk = SweepAsk & { isDryRun: boolean }

export type DispatchSweepResult = SweepResult & {
  eligible_tasks: number
  dispatched_tasks: number
  dry_run_tasks: number
  webhooks_enqueued: number
}

/** When a number may be called next by the hours of dispatches: now, if it may be. */
export type OpensAt = (tenant: TenantRuntime, phone: PhoneNumber) => Date | null

export type DispatchSweepDeps = SweepDeps & { db: Db; dispatch: DispatchTask; check: CheckTaskCall; opensAt: OpensAt }

/** Carriers of several tenants are asked at the same time. */
const LANES = 8
/** What is refused for anything else than the hours is rarely mended sooner. */
const PUT_OFF_MS = 3_600_000
/** Hours that leave a number no time at all may be others by then. */
const NEVER_OPEN_MS = 2 * 86_400_000

/**
 * Has agents call for the open tasks that are due, in the queues that are set to do so and open now. Each passes the dial gate;
 * what that refuses stays open, and the next sweep tries again, behind the others: until people may be called, where it is for the
 * hours, else for an hour.
 */
export async function sweepDispatches(deps: DispatchSweepDeps, ask: DispatchAsk): Promise<DispatchSweepResult> {
  const { db, clock } = deps
  const run = new SweepRun(deps, ask)
  /** Numbers that would be called in a dry run, each of a tenant. */
  const called = new Set<string>()
  // An attempt that the carrier refuses is told of, too.
  const onTold = (webhooks: number) => {
    run.webhooks += webhooks
  }

  async function tasks(tenant: TenantRuntime, page: TaskPage): Promise<TaskToDispatch[]> {
    const now = new Date(clock.now())
    const { tenant_id: tenantId } = tenant
    const queues = await queuesByKey(db, tenantId, await listDispatchingQueues(db, tenantId))
    const queueKeys = (await openQueues(tenant, queues, now)).map(({ queue_key }) => queue_key)
    return listToDispatch(db, tenantId, { ...page, queueKeys, now })
  }

  await run.goThrough({
    lanes: LANES,
    tenants: () => listDispatchTenantsAcrossTenants(db, new Date(clock.now())),
    tasks,
    take: (tenant, task) =>
      ask.isDryRun
        ? wouldDispatch(deps, tenant, task, called)
        : dispatch(deps, tenant, task, { isTold: ask.emitWebhooks, onTold }),
    endsTenant: (error) => error instanceof AppError && HOLDS_FOR_ALL.has(error.code),
  })
  return {
    ...run.result,
    eligible_tasks: run.candidates,
    dispatched_tasks: run.count('dispatched'),
    dry_run_tasks: run.count('dry_run'),
    webhooks_enqueued: run.webhooks,
  }
}

/** What is so for every call of the tenant. */
const HOLDS_FOR_ALL = new Set<ErrorCode>([
  ...(['tenant_busy', 'missing_route', 'minutes_exhausted', 'budget_exhausted'] as const),
  ...(['unavailable', 'carrier_credentials', 'carrier_busy', 'carrier_unreachable', 'submission_unknown'] as const),
])

/** Of several tasks for a number one comes after the other: the call for the first one would be on by then. */
async function wouldDispatch(
  { db, check }: DispatchSweepDeps,
  tenant: TenantRuntime,
  { id }: SweptTask,
  called: Set<string>,
): Promise<Taken | null> {
  const task = await findCallbackTask(db, tenant.tenant_id, id)
  const number = `${tenant.tenant_id} ${task?.customer_phone}`
  if (task?.status !== 'open' || called.has(number)) return null
  const refusal = await check(tenant, await taskCallOf(db, task))
  if (refusal) return refused(refusal)
  called.add(number)
  return { item: { outcome: 'dry_run' }, webhooks: 0 }
}

async function dispatch(
  { db, clock, dispatch: place, opensAt }: DispatchSweepDeps,
  tenant: TenantRuntime,
  { id, queue_key: queueKey, customer_phone: phone }: TaskToDispatch,
  told: Pick<DispatchHow, 'isTold' | 'onTold'>,
): Promise<Taken | null> {
  const { tenant_id: tenantId } = tenant
  try {
    const task = await place(tenantId, id, { operator: null, note: null }, { ...told, ifIn: queueKey })
    const { last_dispatch_call_sid: call_sid, dispatch_attempt_count: attempt } = task
    return { item: { outcome: 'dispatched', call_sid, attempt }, webhooks: 0 }
  } catch (error) {
    // Somebody was faster, the task is gone, or its customer has a call by now.
    if (error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')) return null
    // To the end of the line, unless it was not about this one.
    const isOfAll = error instanceof AppError && HOLDS_FOR_ALL.has(error.code)
    const isHours = error instanceof AppError && error.code === 'outside_calling_hours'
    const opens_at = isHours ? (opensAt(tenant, phone) ?? new Date(clock.now() + NEVER_OPEN_MS)) : null
    const refused_at = opens_at ?? new Date(clock.now() + PUT_OFF_MS)
    const note = (tx: Tx) => noteTold(tx, tenantId, id, { refused_at })
    if (!isOfAll && !(await db.transaction().execute(note))) return null
    if (error instanceof AppError && isRefusal(error)) return refused({ code: error.code, reason: error.message })
    throw error
  }
}

/** Each code of the dial gate is a 409, and so is that nobody could speak. */
function isRefusal(error: AppError): boolean {
  return error.status === 409
}

function refused({ code, reason }: TaskCallRefusal): Taken {
  const outcome = code === 'no_agent' ? 'no_agent' : 'refused'
  return { item: { outcome, code, reason }, webhooks: 0, isLast: HOLDS_FOR_ALL.has(code) }
}

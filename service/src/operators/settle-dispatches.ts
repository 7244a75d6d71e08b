import type { Cancel, Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { SaidOnce } from '../platform/db/said-once.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { waitBriefly } from '../platform/db/short-waits.ts'
import type { Log } from '../platform/log.ts'
import { isReached } from '../records/answered-by.ts'
import { holdCallLogAs } from '../records/call-log-store.ts'
import { EndedCalls, type OneCall } from '../records/ended-calls.ts'
import { isMendedByTime } from '../records/outbound-calls.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { TaskMove } from './callback-task-moves.ts'
import type { TaskDisposition } from './callback-task-values.ts'
import { changeTask } from './change-callback-task.ts'
import { findQueue, type QueueSettings } from './operator-queue-store.ts'
import {
  type EndedDispatch,
  listEndedDispatchesAcrossTenants,
  lockDispatchedAgain,
  noteDispatchEnd,
  settleDispatch,
} from './task-dispatch-store.ts'

/** Takes note of what became of the calls by which tasks were dispatched, again and again. */
export type SettlingDispatches = {
  /** Looks again and again from now on. */
  start(): void
  /** Looks now; the same again while it looks. Never rejects. */
  settle(): Promise<void>
  /** Takes note of what became of one call, if it is over and one of them. Rejects when that cannot be done. */
  settleCall(call: OneCall): Promise<void>
  /** Stops, and waits for a look on its way. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

const LOOK_INTERVAL_MS = 5_000
const MINUTE_MS = 60_000
const NOT_LOOKED_AFTER = 'dispatched callback tasks could not be looked after'

export function makeSettlingDispatches({ db, clock, log, tenants }: Deps): SettlingDispatches {
  let looking: Promise<void> | null = null
  let isClosing = false
  let cancel: Cancel = () => undefined
  const said = new SaidOnce()

  async function settleOne(ended: EndedDispatch): Promise<void> {
    const tenant = await tenants.get(ended.tenant_id)
    if (tenant) await db.transaction().execute((tx) => settleIn(tx, tenant, ended, new Date(clock.now())))
  }

  function warn({ tenant_id, task_id, call_log_id }: EndedDispatch, err: unknown): void {
    log.warn(
      { tenant_id, task_id, call_log_id, err },
      'the end of a dispatched callback task could not be taken note of',
    )
  }

  const ended = new EndedCalls<EndedDispatch>({
    list: (page) => listEndedDispatchesAcrossTenants(db, page),
    takeNote: settleOne,
    failed: warn,
    isStopping: () => isClosing,
  })

  const settling: SettlingDispatches = {
    start() {
      cancel = clock.every(LOOK_INTERVAL_MS, () => void settling.settle())
    },
    settle() {
      looking ??= ended
        .look()
        .then(
          () => said.done(),
          (err: unknown) => said.failed(err, () => log.warn({ err }, NOT_LOOKED_AFTER)),
        )
        .finally(() => {
          looking = null
        })
      return looking
    },
    async settleCall(of) {
      for (const one of await listEndedDispatchesAcrossTenants(db, { limit: 1, after: null, of })) await settleOne(one)
    },
    async close() {
      isClosing = true
      cancel()
      await looking
    },
  }
  return settling
}

async function settleIn(tx: Tx, tenant: TenantRuntime, ended: EndedDispatch, now: Date): Promise<void> {
  const { tenant_id: tenantId } = tenant
  await waitBriefly(tx)
  await holdKnownTenant(tx, tenantId)
  // One that was given up may be its carrier's after all, since it was listed.
  if (!(await holdCallLogAs(tx, tenantId, ended.call_log_id, ended.status))) return
  const again = await lockDispatchedAgain(tx, ended)
  const isReached = dispositionOf(ended) === 'reached'
  // Its newest call is to be over first: that may have reached somebody, too.
  if (isReached && again?.status === 'dispatching') return
  if (!(await settleDispatch(tx, tenantId, ended.call_log_id, now))) return
  if (again) {
    const move = reached(ended, ['open', 'cancelled'], now)
    // A call before its newest one has reached somebody after all: nobody is called for the task any more.
    if (isReached && again.isInVain) await changeTask(tx, tenant, { id: ended.task_id, move }, now)
    return
  }
  // Counted when it began, which it did not if the carrier has not taken it.
  const isAttempt = !isMendedByTime(ended.error_code)
  const task = await noteDispatchEnd(tx, ended, isAttempt)
  if (!task) return
  const queue = await findQueue(tx, tenantId, task.queue_key)
  const move = settlement(ended, { queue, attempts: task.dispatch_attempt_count }, now)
  // An operator may have completed it meanwhile: then that stands.
  await changeTask(tx, tenant, { id: task.id, move }, now)
}

/** What the end of a call makes of the task that it was for. */
function settlement(
  ended: EndedDispatch,
  { queue, attempts }: { queue: QueueSettings; attempts: number },
  now: Date,
): TaskMove {
  const move = settled(ended)
  const { disposition } = move.details
  if (disposition === 'reached') return reached(ended, move.from, now)
  if (attempts >= queue.max_attempts) {
    const set = { status: 'cancelled' as const, disposition: 'failed' as const }
    return { ...move, set, event: 'callback.task.cancelled' }
  }
  const dueAt = new Date(now.getTime() + queue.retry_minutes * MINUTE_MS)
  const set = { status: 'open' as const, disposition, due_at: dueAt, assigned_to: null, claimed_at: null }
  return { ...move, set, event: 'callback.task.reopened' }
}

function reached(ended: EndedDispatch, from: TaskMove['from'], now: Date): TaskMove {
  const set = { status: 'completed' as const, disposition: 'reached' as const, completed_at: now }
  return { ...settled(ended), from, set, event: 'callback.task.completed' }
}

function settled(ended: EndedDispatch) {
  const details = { call_sid: ended.call_sid, call_status: ended.status, disposition: dispositionOf(ended) }
  return { action: 'settle' as const, from: ['dispatching'] as const, operator: null, note: null, details }
}

/** Without a word of the carrier's for who answered, it was a person; whom no agent could talk to, nobody has reached. */
function dispositionOf({ status, answered_by, had_no_agent }: EndedDispatch): TaskDisposition {
  if (had_no_agent) return 'failed'
  switch (status) {
    case 'completed':
      return isReached(answered_by) ? 'reached' : 'voicemail'
    case 'busy':
      return 'busy'
    case 'no-answer':
      return 'no_answer'
    default:
      return 'failed'
  }
}

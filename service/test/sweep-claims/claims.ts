import type { TenantId } from '../../src/kernel/ids.ts'
import { beginDispatch, claimNextTask, moveTask } from '../../src/operators/callback-task-move-store.ts'
import type { CallbackTaskId } from '../../src/operators/callback-task-store.ts'
import { listToDispatch } from '../../src/operators/sweeps/dispatch-sweep-store.ts'
import {
  type FollowUpKind,
  listSnoozeEnds,
  listToEscalate,
  listToRemind,
  noteTold,
  takeTask,
} from '../../src/operators/sweeps/follow-up-store.ts'
import { listOverdueTasks, noteAlert } from '../../src/operators/sweeps/sla-sweep-store.ts'
import { listLiveQueues } from '../../src/operators/sweeps/swept-queue-store.ts'
import { beginCheck, endCheck, listTicketedTasks } from '../../src/operators/sweeps/ticket-store.ts'
import type { Db, Tx } from '../../src/platform/db/schema.ts'

/** One claim of a tenant's next task. @returns whether there was one. */
export type Claim = (db: Db, tenantId: TenantId, now: Date) => Promise<boolean>

/** As many as a sweep with its usual limit asks a tenant for. */
const PAGE = { limit: 100, except: [] as CallbackTaskId[] }
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const ago = (now: Date, minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS)

/** What each sweep asks and writes until a task is its own, and what `claim-next` does. */
export const CLAIMS: Record<string, Claim> = {
  async 'sla: alert'(db, tenantId, now) {
    const keys = await listLiveQueues(db, tenantId)
    const cuts = keys.map((queueKey) => ({ queueKey, before: now }))
    const [task] = await listOverdueTasks(db, tenantId, { ...PAGE, cuts, alerted: false })
    return task !== undefined && (await db.transaction().execute((tx) => noteAlert(tx, tenantId, task, now))) !== null
  },
  async dispatch(db, tenantId, now) {
    const [task] = await listToDispatch(db, tenantId, { ...PAGE, queueKeys: ['queue-0', 'queue-1'], now })
    if (!task) return false
    const begun = { operator: null, now, callLogId: task.id, dueIn: task.queue_key }
    return (await db.transaction().execute((tx) => beginDispatch(tx, tenantId, task.id, begun))) !== null
  },
  'follow-up: snoozed': (db, tenantId, now) =>
    followUp(db, tenantId, { kind: 'snoozed', now }, async () => {
      const [task] = await listSnoozeEnds(db, tenantId, { ...PAGE, now })
      return task?.id
    }),
  'follow-up: remind': (db, tenantId, now) =>
    followUp(db, tenantId, { kind: 'claimed', now }, async (queues) => {
      const cuts = queues.map((queueKey) => ({ queueKey, before: ago(now, 15) }))
      const [task] = await listToRemind(db, tenantId, { ...PAGE, cuts })
      return task?.id
    }),
  'follow-up: escalate': (db, tenantId, now) =>
    followUp(db, tenantId, { kind: 'late', now }, async ([queueKey = '']) => {
      const [task] = await listToEscalate(db, tenantId, { ...PAGE, queueKey, before: ago(now, 60) })
      return task?.id
    }),
  async reconcile(db, tenantId, now) {
    const times = { now, checkedBefore: ago(now, 5), completedAfter: new Date(now.getTime() - 30 * DAY_MS) }
    const [task] = await listTicketedTasks(db, tenantId, { ...PAGE, ...times })
    if (!task || !(await beginCheck(db, tenantId, task, { now, until: ago(now, -1) }))) return false
    await endCheck(db, tenantId, task.id, { checked_at: now })
    return true
  },
  async 'claim-next'(db, tenantId, now) {
    const set = { status: 'claimed', assigned_to: 'ann', claimed_at: now, updated_at: now } as const
    return (await db.transaction().execute((tx) => claimNextTask(tx, tenantId, 'queue-2', { now, set }))) !== null
  },
}

/** A put off task is open again; of the others it is noted what was done. */
const TAKES = {
  snoozed: async (tx: Tx, tenantId: TenantId, id: CallbackTaskId, now: Date) => {
    const set = { status: 'open', snoozed_until: null, snooze_reason: null, updated_at: now } as const
    return (await moveTask(tx, tenantId, id, { from: ['snoozed'], set })) !== null
  },
  claimed: async (tx: Tx, tenantId: TenantId, id: CallbackTaskId, now: Date) => {
    const task = await takeTask(tx, tenantId, id, ['claimed'])
    if (task) await noteTold(tx, tenantId, id, { reminded_at: now })
    return task !== null
  },
  late: async (tx: Tx, tenantId: TenantId, id: CallbackTaskId, now: Date) => {
    const task = await takeTask(tx, tenantId, id, ['open', 'claimed', 'dispatching'])
    if (task) await noteTold(tx, tenantId, id, { escalated_at: now })
    return task !== null
  },
}

async function followUp(
  db: Db,
  tenantId: TenantId,
  { kind, now }: { kind: FollowUpKind; now: Date },
  next: (queues: string[]) => Promise<CallbackTaskId | undefined>,
): Promise<boolean> {
  const id = await next(await listLiveQueues(db, tenantId))
  return id !== undefined && db.transaction().execute((tx) => TAKES[kind](tx, tenantId, id, now))
}

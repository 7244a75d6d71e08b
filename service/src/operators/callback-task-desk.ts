import type { Clock } from '../kernel/clock.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import type { RequestKey } from '../kernel/request-key.ts'
import type { FittingRows } from '../platform/db/fitting-rows.ts'
import { takeKeyOrFind } from '../platform/db/request-keys.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { holdKnownTenant, knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { addTask, type TaskFields } from './add-callback-task.ts'
import { listTaskChanges, type TaskChangeRow } from './callback-task-history-store.ts'
import { claimNextTask } from './callback-task-move-store.ts'
import { claim, type TaskMove } from './callback-task-moves.ts'
import {
  type CallbackTaskId,
  type CallbackTaskRow,
  listCallbackTasks,
  listCallbackTasksAcrossTenants,
  listDueCallbackTasks,
  type TaskFilter,
} from './callback-task-store.ts'
import { cancelTasksLeft } from './cancel-tasks-of.ts'
import { changeTask, expectTask, refusedMove, tellTaskChange } from './change-callback-task.ts'
import { listNumber } from './do-not-call.ts'
import { dueAnew, editTask, type TaskEdit } from './edit-callback-task.ts'
import { findTaskOfKey, TASK_KEYS } from './task-key-store.ts'
import { findCallOfStream, findSubject } from './task-subject-store.ts'

/** A task, and whether an earlier request with the same key has made it. */
export type MadeTask = { task: CallbackTaskRow; isReplay: boolean }

/** What operators do with callback tasks. All that changes one is written down with who did it. */
export type TaskDesk = {
  /** Newest first. */
  list(tenantId: TenantId, filter: TaskFilter, page: PageRequest): Promise<Page<CallbackTaskRow>>
  /** Those that are not done, the one whose promise is over first at the head. */
  listDue(tenantId: TenantId, filter: TaskFilter, page: PageRequest): Promise<Page<CallbackTaskRow>>
  listAcrossTenants(filter: TaskFilter, page: PageRequest): Promise<Page<CallbackTaskRow>>
  /** @throws AppError `not_found`. */
  get(tenantId: TenantId, id: CallbackTaskId): Promise<CallbackTaskRow>
  /** What was done to a task, newest first. @throws AppError `not_found`. */
  history(tenantId: TenantId, id: CallbackTaskId, page: PageRequest): Promise<Page<TaskChangeRow>>
  /**
   * Adds an open task, and tells the tenant. For 24 h a request with the key of an earlier one is answered with the task that that
   * one has made, as it is now.
   *
   * @throws AppError `not_found` for a deleted tenant; `idempotency_mismatch` for another body.
   */
  create(tenantId: TenantId, fields: TaskFields, key: RequestKey | null): Promise<MadeTask>
  /**
   * Changes what is given, in any status. `operator`: who does so, where it is known.
   *
   * @throws AppError `not_found`; `precondition_failed` when the task has not the tag of `ifMatch` any more.
   */
  edit(
    tenantId: TenantId,
    id: CallbackTaskId,
    wanted: { edit: TaskEdit; ifMatch?: string | undefined },
    operator: string | null,
  ): Promise<CallbackTaskRow>
  /**
   * Completed as `do_not_call`, its number is listed with it, and the other tasks of that number that wait are cancelled.
   *
   * @throws AppError `not_found`, `conflict` when the task's status does not allow it: of several at once one wins.
   */
  move(tenantId: TenantId, id: CallbackTaskId, move: (now: Date) => TaskMove): Promise<CallbackTaskRow>
  /** Claims the next task of a queue that is due; null when there is none. Several at once get different ones. */
  claimNext(tenantId: TenantId, queueKey: string, operator: string): Promise<CallbackTaskRow | null>
}

/** Why a number is listed whose task was completed as `do_not_call`. */
const WISH = 'Whoever was called back does not want to be called.'

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

export function makeTaskDesk({ db, clock, log, tenants }: Deps): TaskDesk {
  /** The tenant is asked for before: nothing but the database is waited for inside. */
  async function change<T>(tenantId: TenantId, work: (tx: Tx, tenant: TenantRuntime, now: Date) => Promise<T>) {
    const tenant = await knownTenant(tenants, tenantId)
    return db.transaction().execute(async (tx) => {
      await holdKnownTenant(tx, tenantId)
      return work(tx, tenant, new Date(clock.now()))
    })
  }

  return {
    async list(tenantId, filter, page) {
      return paged(await listCallbackTasks(db, tenantId, filter, page))
    },
    async listDue(tenantId, filter, page) {
      const { rows, limit } = await listDueCallbackTasks(db, tenantId, filter, page)
      return toPage(rows, limit, (row) => ({ createdAt: row.sla_due_at, id: row.id }))
    },
    async listAcrossTenants(filter, page) {
      return paged(await listCallbackTasksAcrossTenants(db, filter, page))
    },
    get: (tenantId, id) => expectTask(db, tenantId, id),
    async history(tenantId, id, page) {
      await expectTask(db, tenantId, id)
      return paged(await listTaskChanges(db, tenantId, id, page))
    },
    create: (tenantId, fields, key) =>
      change(tenantId, async (tx, tenant, now) => {
        const id = newId<CallbackTaskId>(now.getTime())
        const asked = key && { ...key, tenantId, madeId: id, now }
        const known = asked && (await takeKeyOrFind(tx, TASK_KEYS, asked, () => findTaskOfKey(tx, tenantId, asked.key)))
        if (known) return { task: known, isReplay: true }
        const call_sid = fields.call_sid ?? (await findCallOfStream(tx, tenantId, fields.stream_sid))
        const subject = await findSubject(tx, tenantId, call_sid)
        const task = await addTask(tx, tenant, { id, fields: { ...fields, call_sid }, subject }, now)
        return { task, isReplay: false }
      }),
    edit: (tenantId, id, wanted, operator) =>
      change(tenantId, async (tx, tenant, now) => {
        await expectTask(tx, tenantId, id)
        return editTask(tx, tenant, { id, ...wanted, operator }, now)
      }),
    async move(tenantId, id, moveAt) {
      const { task, left } = await change(tenantId, async (tx, tenant, now) => {
        const before = await expectTask(tx, tenantId, id)
        const asked = moveAt(now)
        const anew = asked.action === 'reopen' ? await dueAnew(tx, tenant, before, now) : null
        const move = { ...asked, set: { ...asked.set, ...anew } }
        const task = await changeTask(tx, tenant, { id, move }, now)
        // Read again: whoever was faster has changed it since.
        if (!task) throw refusedMove(await expectTask(tx, tenantId, before.id), move.action, move.from)
        const { customer_phone: phone } = task
        const entry = { phone, reason: WISH, source: move.operator, isWish: true }
        if (move.set.disposition !== 'do_not_call') return { task, left: null }
        const { unwanted } = await listNumber(tx, tenant, entry, now)
        return { task, left: unwanted && (() => cancelTasksLeft({ db, clock, log }, tenant, unwanted)) }
      })
      await left?.()
      return task
    },
    claimNext: (tenantId, queueKey, operator) =>
      change(tenantId, async (tx, tenant, now) => {
        const { set, ...move } = claim(operator, now)
        const task = await claimNextTask(tx, tenantId, queueKey, { now, set: { ...set, updated_at: now } })
        if (task) await tellTaskChange(tx, tenant, { task, change: move, event: move.event }, now)
        return task
      }),
  }
}

function paged<Row extends { created_at: Date; id: string }>({ rows, limit }: FittingRows<Row>): Page<Row> {
  return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
}

import type { Db, Tx } from '../../platform/db/schema.ts'
import { iso } from '../../platform/http/schemas.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { moveTask } from '../callback-task-move-store.ts'
import { wake } from '../callback-task-moves.ts'
import type { CallbackTaskRow } from '../callback-task-store.ts'
import { TASK_PRIORITIES, type TaskPriority } from '../callback-task-values.ts'
import { tellTaskChange } from '../change-callback-task.ts'
import { findQueue, queuesByKey } from '../operator-queue-store.ts'
import { openFor, openQueues } from '../queue-hours.ts'
import {
  type FollowUpKind,
  findFollowUp,
  type LateTask,
  listFollowUpTenantsAcrossTenants,
  listSnoozeEnds,
  listToEscalate,
  listToRemind,
  noteTold,
  takeTask,
} from './follow-up-store.ts'
import {
  type SweepAsk,
  type SweepDeps,
  type SweepResult,
  SweepRun,
  type SweptTask,
  type Taken,
  type TaskPage,
} from './sweep-run.ts'
import { listLiveQueues } from './swept-queue-store.ts'

/** Somebody who is to be told that a task waits. `to`: whoever has it, or the target of the queue's escalation; in their words. */
export type OperatorNotice = { kind: 'follow_up_due' | 'escalated'; to: string; task: CallbackTaskRow }

/** Has somebody told, once the transaction commits. Returns whether there is a way to tell anybody. */
export type NotifyOperator = (tx: Tx, tenant: TenantRuntime, notice: OperatorNotice, now: Date) => Promise<boolean>

/** `sendNotifications` false: nobody is told, and everything is noted as if they were. */
export type FollowUpAsk = SweepAsk & { sendNotifications: boolean }

export type FollowUpSweepResult = SweepResult & {
  candidate_tasks: number
  snoozes_expired: number
  notifications_sent: number
  escalations_applied: number
  webhooks_enqueued: number
}

export type FollowUpDeps = SweepDeps & { db: Db; notify: NotifyOperator }

const MINUTE_MS = 60_000
const WAITED_FOR = ['open', 'claimed', 'dispatching'] as const

/**
 * Wakes tasks that were put off until now, reminds whoever claimed a task and has not done it, and escalates what is far too
 * late. Outside a queue's business hours nobody is reminded, and the time to an escalation stands still.
 */
export async function sweepFollowUps(deps: FollowUpDeps, ask: FollowUpAsk): Promise<FollowUpSweepResult> {
  const run = new SweepRun(deps, ask)
  const steps = new FollowUpSteps(deps, ask)
  const { db, clock } = deps
  const tenantsOf = (kind: FollowUpKind) => () => listFollowUpTenantsAcrossTenants(db, kind, new Date(clock.now()))
  await run.goThrough({
    lanes: 1,
    tenants: tenantsOf('snoozed'),
    tasks: ({ tenant_id }, page) => listSnoozeEnds(db, tenant_id, { ...page, now: new Date(clock.now()) }),
    take: (tenant, task) => steps.wake(tenant, task),
  })
  await run.goThrough({
    lanes: 1,
    tenants: tenantsOf('late'),
    tasks: (tenant, page) => steps.toEscalate(tenant, page),
    take: (tenant, task) => steps.escalate(tenant, task),
  })
  await run.goThrough({
    lanes: 1,
    tenants: tenantsOf('claimed'),
    tasks: (tenant, page) => steps.toRemind(tenant, page),
    take: (tenant, task) => steps.remind(tenant, task),
  })
  return {
    ...run.result,
    candidate_tasks: run.candidates,
    snoozes_expired: run.count('woken'),
    notifications_sent: steps.notified,
    escalations_applied: run.count('escalated'),
    webhooks_enqueued: run.webhooks,
  }
}

class FollowUpSteps {
  /** Notices that went out, or would have. */
  notified = 0
  readonly #deps: FollowUpDeps
  readonly #ask: FollowUpAsk

  constructor(deps: FollowUpDeps, ask: FollowUpAsk) {
    this.#deps = deps
    this.#ask = ask
  }

  async toRemind(tenant: TenantRuntime, page: TaskPage): Promise<SweptTask[]> {
    const now = this.#now()
    const cuts = (await openQueues(tenant, await this.#queues(tenant), now)).map((queue) => ({
      queueKey: queue.queue_key,
      before: minutesBefore(now, queue.reminder_minutes),
    }))
    return listToRemind(this.#deps.db, tenant.tenant_id, { ...page, cuts })
  }

  async toEscalate(tenant: TenantRuntime, page: TaskPage): Promise<LateTask[]> {
    const now = this.#now()
    const found: LateTask[] = []
    for (const queue of await this.#queues(tenant)) {
      const before = await openFor(tenant, queue, { minutes: queue.escalate_after_minutes, until: now })
      const asked = { ...page, queueKey: queue.queue_key, before }
      found.push(...(await listToEscalate(this.#deps.db, tenant.tenant_id, asked)))
    }
    return found.toSorted((a, b) => a.sla_due_at.getTime() - b.sla_due_at.getTime()).slice(0, page.limit)
  }

  wake(tenant: TenantRuntime, { id }: SweptTask): Promise<Taken | null> {
    return this.#within(tenant, async (tx, now) => {
      const task = await takeTask(tx, tenant.tenant_id, id, ['snoozed'])
      // It may have been woken and put off again since it was found.
      if (!task?.snoozed_until || task.snoozed_until > now) return null
      const { from, set, event, ...change } = wake({ operator: null, note: null })
      const woken = await moveTask(tx, tenant.tenant_id, id, { from, set: { ...set, updated_at: now } })
      if (!woken) throw new Error('a task is gone that is locked')
      const told = { task: woken, change, event: this.#ask.emitWebhooks ? event : null }
      const webhooks = await tellTaskChange(tx, tenant, told, now)
      return { item: { outcome: 'woken', snoozed_until: iso(task.snoozed_until) }, webhooks }
    })
  }

  remind(tenant: TenantRuntime, { id }: SweptTask): Promise<Taken | null> {
    return this.#within(tenant, async (tx, now) => {
      const task = await takeTask(tx, tenant.tenant_id, id, ['claimed'])
      if (!task) return null
      const { reminder_minutes: minutes } = await findQueue(tx, tenant.tenant_id, task.queue_key)
      const before = minutesBefore(now, minutes)
      const { reminded_at } = await findFollowUp(tx, tenant.tenant_id, id)
      // Whoever has only just taken what was due long ago has had no time to do it.
      const since = [task.due_at, task.claimed_at, reminded_at]
      if (since.some((at) => at !== null && at > before)) return null
      await noteTold(tx, tenant.tenant_id, id, { reminded_at: now })
      const to = task.assigned_to
      if (to !== null) await this.#notify(tx, tenant, { kind: 'follow_up_due', to, task }, now)
      const change = { action: 'remind' as const, operator: null, note: null, details: { assigned_to: to } }
      const event = this.#ask.emitWebhooks ? ('operator_queue.follow_up_due' as const) : null
      const webhooks = await tellTaskChange(tx, tenant, { task, change, event }, now)
      return { item: { outcome: 'reminded', assigned_to: to }, webhooks }
    })
  }

  escalate(tenant: TenantRuntime, { id, queue_key: queueKey, sla_due_at: dueAt }: LateTask): Promise<Taken | null> {
    return this.#within(tenant, async (tx, now) => {
      const { tenant_id: tenantId } = tenant
      const task = await takeTask(tx, tenantId, id, WAITED_FOR)
      // It may have been put off, or into another queue, since it was found.
      const isLate = task?.queue_key === queueKey && task.sla_due_at.getTime() === dueAt.getTime()
      if (!isLate || (await findFollowUp(tx, tenantId, id)).escalated_at !== null) return null
      const { escalation_target: target } = await findQueue(tx, tenantId, task.queue_key)
      const set = { priority: oneStepUp(task.priority), updated_at: now }
      const escalated = await moveTask(tx, tenantId, id, { from: WAITED_FOR, set })
      if (!escalated) throw new Error('a task is gone that is locked')
      await noteTold(tx, tenantId, id, { escalated_at: now })
      if (target !== null) await this.#notify(tx, tenant, { kind: 'escalated', to: target, task: escalated }, now)
      const details = { before: task.priority, priority: escalated.priority, escalation_target: target }
      const change = { action: 'escalate' as const, operator: null, note: null, details }
      const event = this.#ask.emitWebhooks ? ('operator_queue.escalated' as const) : null
      const webhooks = await tellTaskChange(tx, tenant, { task: escalated, change, event }, now)
      const item = { outcome: 'escalated', priority: escalated.priority, escalation_target: target }
      return { item, webhooks }
    })
  }

  #now(): Date {
    return new Date(this.#deps.clock.now())
  }

  async #queues({ tenant_id }: TenantRuntime) {
    const { db } = this.#deps
    return queuesByKey(db, tenant_id, await listLiveQueues(db, tenant_id))
  }

  #within(tenant: TenantRuntime, work: (tx: Tx, now: Date) => Promise<Taken | null>): Promise<Taken | null> {
    const notifiedBefore = this.notified
    return this.#deps.db
      .transaction()
      .execute(async (tx) => {
        await holdKnownTenant(tx, tenant.tenant_id)
        return work(tx, this.#now())
      })
      .catch((error: unknown) => {
        this.notified = notifiedBefore
        throw error
      })
  }

  async #notify(tx: Tx, tenant: TenantRuntime, notice: OperatorNotice, now: Date): Promise<void> {
    const isTold = !this.#ask.sendNotifications || (await this.#deps.notify(tx, tenant, notice, now))
    if (isTold) this.notified += 1
  }
}

function minutesBefore(now: Date, minutes: number): Date {
  return new Date(now.getTime() - minutes * MINUTE_MS)
}

function oneStepUp(priority: TaskPriority): TaskPriority {
  return TASK_PRIORITIES[TASK_PRIORITIES.indexOf(priority) - 1] ?? priority
}

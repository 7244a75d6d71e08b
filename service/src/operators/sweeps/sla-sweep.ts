import type { Db } from '../../platform/db/schema.ts'
import { iso } from '../../platform/http/schemas.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { tellTaskChange } from '../change-callback-task.ts'
import { queuesByKey } from '../operator-queue-store.ts'
import { lastOpenAt, ofEach } from '../queue-hours.ts'
import { listOverdueTasks, listOverdueTenantsAcrossTenants, noteAlert, type OverdueTask } from './sla-sweep-store.ts'
import { type SweepAsk, type SweepDeps, type SweepResult, SweepRun, type Taken, type TaskPage } from './sweep-run.ts'
import { listLiveQueues } from './swept-queue-store.ts'

/** What the sweep of overdue tasks came to. */
export type SlaSweepResult = SweepResult & { overdue_tasks: number; alerts_recorded: number; webhooks_enqueued: number }

/**
 * Finds the tasks that were not done in time, and notes and tells it once for each time by which they were to be done. Those of
 * which it is noted already are shown too, as far as the limit goes. Outside a queue's business hours no task of it becomes overdue.
 */
export async function sweepSla(deps: SweepDeps & { db: Db }, ask: SweepAsk): Promise<SlaSweepResult> {
  const { db, clock } = deps
  const run = new SweepRun(deps, ask)
  const instant = () => new Date(clock.now())

  async function overdue(tenant: TenantRuntime, page: TaskPage & { alerted: boolean }): Promise<OverdueTask[]> {
    const now = instant()
    const { tenant_id: tenantId } = tenant
    const queues = await queuesByKey(db, tenantId, await listLiveQueues(db, tenantId))
    const cuts = await ofEach(queues, (queue, local) => {
      const before = lastOpenAt(tenant, queue, now, local)
      return before === null ? [] : [{ queueKey: queue.queue_key, before }]
    })
    return listOverdueTasks(db, tenantId, { ...page, cuts: cuts.flat() })
  }

  const alert = (tenant: TenantRuntime, overdueTask: OverdueTask) =>
    db.transaction().execute(async (tx): Promise<Taken | null> => {
      const now = instant()
      await holdKnownTenant(tx, tenant.tenant_id)
      const task = await noteAlert(tx, tenant.tenant_id, overdueTask, now)
      if (!task) return null
      const sla_due_at = iso(overdueTask.sla_due_at)
      const change = { action: 'alert' as const, operator: null, note: null, details: { sla_due_at } }
      const event = ask.emitWebhooks ? ('operator_queue.sla_breached' as const) : null
      const webhooks = await tellTaskChange(tx, tenant, { task, change, event }, now)
      return { item: { outcome: 'alerted', sla_due_at }, webhooks }
    })

  const tenantsOf = (alerted: boolean) => () => listOverdueTenantsAcrossTenants(db, instant(), alerted)
  await run.goThrough({
    lanes: 1,
    tenants: tenantsOf(false),
    tasks: (tenant, page) => overdue(tenant, { ...page, alerted: false }),
    take: alert,
  })
  // Those that were alerted just now are not told twice.
  const alertedNow = run.items.map(({ task_id }) => task_id)
  await run.goThrough({
    lanes: 1,
    tenants: tenantsOf(true),
    tasks: (tenant, page) => overdue(tenant, { ...page, except: [...page.except, ...alertedNow], alerted: true }),
    take: async (_tenant, task) => ({
      item: { outcome: 'already_alerted', sla_due_at: iso(task.sla_due_at) },
      webhooks: 0,
    }),
  })
  return {
    ...run.result,
    overdue_tasks: run.candidates,
    alerts_recorded: run.count('alerted'),
    webhooks_enqueued: run.webhooks,
  }
}

import type { Notify } from './delivery/notify.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import { callbackTaskActionRoutes } from './operators/callback-task-action-routes.ts'
import { callbackTaskAdminRoutes } from './operators/callback-task-admin-routes.ts'
import { makeTaskDesk } from './operators/callback-task-desk.ts'
import { callbackTaskRoutes } from './operators/callback-task-routes.ts'
import { type CheckTaskCall, makeDispatchTask, type PlaceTaskCall } from './operators/dispatch-task.ts'
import { collectMissedCalls, type GoesOn } from './operators/missed-calls.ts'
import { operatorQueueAdminRoutes } from './operators/operator-queue-admin-routes.ts'
import { operatorQueueRoutes } from './operators/operator-queue-routes.ts'
import { makeOperatorQueues } from './operators/operator-queues.ts'
import { makeSettlingDispatches } from './operators/settle-dispatches.ts'
import { type OpensAt, sweepDispatches } from './operators/sweeps/dispatch-sweep.ts'
import { sweepFollowUps } from './operators/sweeps/follow-up-sweep.ts'
import { mailOperators } from './operators/sweeps/mail-notice.ts'
import { sweepSla } from './operators/sweeps/sla-sweep.ts'
import { type Sweeps, sweepRoutes } from './operators/sweeps/sweep-routes.ts'
import { sweepTickets } from './operators/sweeps/ticket-sweep.ts'
import { TASK_KEYS } from './operators/task-key-store.ts'
import { forgetKeysAcrossTenants, keysFreeBefore } from './platform/db/request-keys.ts'
import { makeTicketSystems } from './platform/ticketing/registry.ts'
import type { ScheduledWork } from './schedule.ts'
import type { Credentials } from './tenancy/credentials.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { tenantByToken } from './tenancy/token-filter.ts'

type Needs = {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  credentials: Pick<Credentials, 'findTenant'>
  place: PlaceTaskCall
  check: CheckTaskCall
  opensAt: OpensAt
  goesOn: GoesOn
  /** Has people told by mail. */
  notify: Notify
}

/** As many as an endpoint does when it is not told otherwise. */
const SCHEDULED_ROWS = 100
/** Ticket systems count how often they are asked. */
const TICKET_AGE_MS = 300_000

function scheduledSweeps(sweeps: Sweeps): ScheduledWork[] {
  const ask = { tenantId: null, limitRows: SCHEDULED_ROWS, emitWebhooks: true }
  return [
    { name: 'sla', hasEndpoint: true, run: () => sweeps.sla(ask) },
    { name: 'follow-ups', hasEndpoint: true, run: () => sweeps.followUps({ ...ask, sendNotifications: true }) },
    { name: 'dispatches', hasEndpoint: true, run: () => sweeps.dispatches({ ...ask, isDryRun: false }) },
    { name: 'tickets', hasEndpoint: true, run: () => sweeps.tickets({ ...ask, minAgeMs: TICKET_AGE_MS }) },
  ]
}

/** Wires what operators work on: callback tasks and their queues. `close` stops what was started for that. */
export function makeOperators({ clock, log, outbound, database: { db } }: Deps, needs: Needs) {
  const { tenants, place, check, opensAt, goesOn, notify } = needs
  const desk = makeTaskDesk({ db, clock, log, tenants })
  const queues = makeOperatorQueues({ db, clock, tenants })
  const settling = makeSettlingDispatches({ db, clock, log, tenants })
  const dispatch = makeDispatchTask({ db, clock, tenants, place, settle: settling.settle })
  const systems = makeTicketSystems(outbound)
  let isStopping = false
  const known = { db, clock, log, tenants, isStopping: () => isStopping }
  const sweeps: Sweeps = {
    sla: (ask) => sweepSla(known, ask),
    followUps: (ask) => sweepFollowUps({ ...known, notify: mailOperators(notify) }, ask),
    dispatches: (ask) => sweepDispatches({ ...known, dispatch, check, opensAt }, ask),
    tickets: (ask) => sweepTickets({ ...known, systems }, ask),
  }
  const forgetKeys = () => forgetKeysAcrossTenants(db, TASK_KEYS, keysFreeBefore(new Date(clock.now())))
  const tenantBy = tenantByToken(needs.credentials)
  return {
    /** What is to be done again and again. */
    scheduled: [
      ...scheduledSweeps(sweeps),
      { name: 'missed calls', hasEndpoint: false, run: () => collectMissedCalls({ ...known, goesOn }) },
      { name: 'keys of tasks', hasEndpoint: false, run: forgetKeys },
    ] satisfies ScheduledWork[],
    /** The ends of dispatches are taken note of from now on. */
    start: () => settling.start(),
    /** Takes note of what a call that is over has come to, if a task is dispatched by it. */
    noteEndOf: settling.settleCall,
    /** To be registered behind `tenantGuard`. */
    tenantRoutes: [
      callbackTaskRoutes(desk),
      callbackTaskActionRoutes({ desk, dispatch }),
      operatorQueueRoutes({ queues, desk }),
    ],
    adminRoutes: [callbackTaskAdminRoutes(desk), operatorQueueAdminRoutes(queues), sweepRoutes({ sweeps, tenantBy })],
    close() {
      isStopping = true
      return settling.close()
    },
  }
}

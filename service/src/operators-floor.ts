import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import { callbackTaskActionRoutes } from './operators/callback-task-action-routes.ts'
import { callbackTaskAdminRoutes } from './operators/callback-task-admin-routes.ts'
import { makeTaskDesk } from './operators/callback-task-desk.ts'
import { callbackTaskRoutes } from './operators/callback-task-routes.ts'
import { makeDispatchTask, type PlaceTaskCall } from './operators/dispatch-task.ts'
import { operatorQueueAdminRoutes } from './operators/operator-queue-admin-routes.ts'
import { operatorQueueRoutes } from './operators/operator-queue-routes.ts'
import { makeOperatorQueues } from './operators/operator-queues.ts'
import { makeSettlingDispatches } from './operators/settle-dispatches.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'

type Needs = { tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }; place: PlaceTaskCall }

/** Wires what operators work on: callback tasks and their queues. `close` stops what was started for that. */
export function makeOperators({ clock, log, database: { db } }: Deps, { tenants, place }: Needs) {
  const desk = makeTaskDesk({ db, clock, tenants })
  const queues = makeOperatorQueues({ db, clock })
  const settling = makeSettlingDispatches({ db, clock, log, tenants })
  const dispatch = makeDispatchTask({ db, clock, tenants, place, settle: settling.settle })
  return {
    /** To be registered behind `tenantGuard`. */
    tenantRoutes: [
      callbackTaskRoutes(desk),
      callbackTaskActionRoutes({ desk, dispatch }),
      operatorQueueRoutes({ queues, desk }),
    ],
    adminRoutes: [callbackTaskAdminRoutes(desk), operatorQueueAdminRoutes(queues)],
    close: settling.close,
  }
}

import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import { analyticsAdminRoutes } from './records/analytics/analytics-admin-routes.ts'
import { analyticsRoutes } from './records/analytics/analytics-routes.ts'
import { makeCallAnalytics } from './records/analytics/call-analytics.ts'
import { type CountAsk, countCalls } from './records/analytics/count-calls.ts'
import type { ScheduledWork } from './schedule.ts'
import type { Credentials } from './tenancy/credentials.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { tenantByToken } from './tenancy/token-filter.ts'

type Needs = {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  credentials: Pick<Credentials, 'findTenant'>
}

/** More than come together between two sweeps: what is left is counted by the next one. */
const SCHEDULED_HOURS = 1_000

/** Wires what calls came to, and what counts them. `close` has nothing more be begun. */
export function makeAnalytics({ clock, log, database: { db } }: Deps, { tenants, credentials }: Needs) {
  let isStopping = false
  const analytics = makeCallAnalytics({ db, clock, tenants })
  const count = (ask: CountAsk) => countCalls({ db, clock, log, isStopping: () => isStopping }, ask)
  return {
    /** What is to be done again and again. */
    scheduled: [
      { name: 'analytics', hasEndpoint: true, run: () => count({ tenantId: null, limitHours: SCHEDULED_HOURS }) },
    ] satisfies ScheduledWork[],
    /** To be registered behind `tenantGuard`. */
    tenantRoutes: analyticsRoutes(analytics),
    adminRoutes: analyticsAdminRoutes({ analytics, count, tenantBy: tenantByToken(credentials) }),
    close() {
      isStopping = true
    },
  }
}

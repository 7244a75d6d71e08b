import type { Db } from '../../platform/db/schema.ts'
import { roundedUsd } from '../../platform/realtime/price.ts'
import { sumRunCosts } from '../../records/simulations/run-store.ts'
import { spentToday } from '../../records/spent-today.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'

const DAY_MS = 86_400_000

/** Whether the tenant's calls and simulations of this UTC day have cost what its `budget_per_day` lets them. */
export async function isDaySpent(db: Db, tenant: TenantRuntime, now: Date): Promise<boolean> {
  const { budget_per_day: budget } = tenant.limits
  if (budget === null) return false
  const since = new Date(now.getTime() - (now.getTime() % DAY_MS))
  const calls = await spentToday(db, tenant, { now })
  // A sum of fractions may miss the budget that it has come to.
  return roundedUsd((calls?.usd ?? 0) + (await sumRunCosts(db, tenant.tenant_id, since))) >= budget
}

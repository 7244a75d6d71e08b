import type { Db } from '../platform/db/schema.ts'
import { roundedUsd } from '../platform/realtime/price.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { LONGEST_LIVE_MS } from './call-values.ts'
import { countTalkedSeconds, sumCosts } from './spent-today-store.ts'

/** What calls of a tenant have taken of a UTC day: seconds by way of a carrier, and USD. */
export type SpentToday = { seconds: number; usd: number }

/** Why a tenant's day has room for no more calls. */
export type DayRefusal = 'minutes_exhausted' | 'budget_exhausted'

const DAY_MS = 86_400_000

/** How long it is until the next UTC day, of which nothing is spent. */
export function dayLeftMs(now: Date): number {
  return DAY_MS - (now.getTime() % DAY_MS)
}

type Asked = { now: Date /** This call is left out. */; exceptCallSid?: string }

/** What is spent of the tenant's day, the calls that are not over with it; null where its document bounds neither. */
export async function spentToday(
  db: Db,
  { tenant_id, limits }: TenantRuntime,
  { now, exceptCallSid }: Asked,
): Promise<SpentToday | null> {
  const { minutes_per_day: minutes, budget_per_day: budget } = limits
  if (minutes === null && budget === null) return null
  const sinceMs = now.getTime() - (now.getTime() % DAY_MS)
  const day = { now, since: new Date(sinceMs), begunAfter: new Date(sinceMs - LONGEST_LIVE_MS), exceptCallSid }
  return {
    seconds: minutes === null ? 0 : await countTalkedSeconds(db, tenant_id, day),
    // A sum of fractions may miss the budget that it has come to.
    usd: budget === null ? 0 : roundedUsd(await sumCosts(db, tenant_id, day)),
  }
}

/** Which of the tenant's bounds is reached by what is spent; null when none is. */
export function dayRefusal({ limits }: TenantRuntime, spent: SpentToday | null): DayRefusal | null {
  const { minutes_per_day: minutes, budget_per_day: budget } = limits
  if (spent === null) return null
  if (minutes !== null && spent.seconds >= minutes * 60) return 'minutes_exhausted'
  return budget !== null && spent.usd >= budget ? 'budget_exhausted' : null
}

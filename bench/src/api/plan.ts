/** How much is measured. Durations in seconds. */
export type ApiPlan = {
  /** Call logs, over so many tenants; each has its session. */
  rows: number
  tenants: number
  /** Windows in which the service and the bare route take turns under load. */
  rounds: number
  roundSeconds: number
  /** Requests of each kind whose time is looked at one by one. */
  samples: number
  /** The page whose first row is so far behind is compared with the first page. */
  deepRow: number
  calls: number
  ringsPerSecond: number
  warmupSeconds: number
  ringSeconds: number
  outboxRows: number
  outboxSecondsMax: number
  /** Of one tenant, in 30 days. */
  analyticsCalls: number
}

/** What the goals are meant for. */
export const FULL: ApiPlan = {
  rows: 1_000_000,
  tenants: 200,
  rounds: 5,
  roundSeconds: 4,
  samples: 500,
  deepRow: 10_000,
  calls: 100,
  ringsPerSecond: 100,
  warmupSeconds: 10,
  ringSeconds: 20,
  outboxRows: 100_000,
  outboxSecondsMax: 240,
  analyticsCalls: 10_000_000,
}

/** A look. */
export const QUICK: ApiPlan = {
  ...FULL,
  rows: 50_000,
  rounds: 3,
  roundSeconds: 1,
  samples: 100,
  deepRow: 2_000,
  warmupSeconds: 3,
  ringSeconds: 5,
  outboxRows: 10_000,
  outboxSecondsMax: 60,
  analyticsCalls: 200_000,
}

/** What of it is measured. */
export const PARTS = ['lists', 'filters', 'rings', 'outbox', 'analytics'] as const
export type Part = (typeof PARTS)[number]

/** What is measured when nothing is said: to write ten million calls takes longer than everything else. */
export const USUAL_PARTS: readonly Part[] = PARTS.filter((part) => part !== 'analytics')

/** So many rows over so many tenants as Zipf found words to be: the n-th has an n-th of what the first has. They add up. */
export function zipfShares(rows: number, tenants: number): number[] {
  const weights = Array.from({ length: tenants }, (_, i) => 1 / (i + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight) => Math.floor((rows * weight) / total))
  const missing = rows - shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share, i) => share + (i < missing ? 1 : 0))
}

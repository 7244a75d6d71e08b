import type { Share } from './agent-queries.ts'

/** What is left for the published version, in percent with two decimals. */
export function restOf(shares: Share[]): number {
  return hundredths(100 - sumOf(shares))
}

/** The shares that other versions than this one have. */
export function sharesOfOthers(shares: Share[], versionId: string): Share[] {
  return shares.filter(({ agent_version_id }) => agent_version_id !== versionId)
}

/** What versions have together, in percent with two decimals. */
export function sumOf(shares: Share[]): number {
  return hundredths(shares.reduce((sum, { traffic_percentage }) => sum + traffic_percentage, 0))
}

/** Whether calls are shared alike, in whatever order the versions stand. */
export function isSameShare(some: Share[], others: Share[]): boolean {
  const percents = new Map(others.map((share) => [share.agent_version_id, share.traffic_percentage]))
  const isThere = (share: Share) => percents.get(share.agent_version_id) === share.traffic_percentage
  return some.length === others.length && some.every(isThere)
}

/** Gives a version its share: at most what the others leave. */
export function withShare(shares: Share[], versionId: string, percent: number): Share[] {
  const most = restOf(sharesOfOthers(shares, versionId))
  const traffic_percentage = hundredths(Math.min(Math.max(Number.isFinite(percent) ? percent : 0, 0), most))
  return shares.map((share) => (share.agent_version_id === versionId ? { ...share, traffic_percentage } : share))
}

/** As exactly as the service takes it. */
function hundredths(percent: number): number {
  return Math.round(percent * 100) / 100
}

import { sha256 } from '../kernel/seal.ts'

/** A hundredth of a percent is the smallest share. */
const WHOLE = 10_000

/** Percentages as whole hundredths, in which sums are exact. */
export function hundredthsOf(percentage: number): number {
  return Math.round(percentage * 100)
}

/** Whether a percentage has no more than two decimals. */
export function hasTwoDecimals(percentage: number): boolean {
  return hundredthsOf(percentage) / 100 === percentage
}

/**
 * Chooses by shares that lie one behind the other from 0 to 100: whose share the caller falls into, or null where none is. The same
 * caller falls on the same place of the same agent, so a share that stays where it is keeps everybody it had.
 *
 * @param shares `startsAt`, in hundredths: null for right behind the one before.
 * @param caller is what the choice sticks to, such as a number.
 */
export function chooseShare<Share extends { percentage: number; startsAt: number | null }>(
  shares: readonly Share[],
  { agentId, caller }: { agentId: string; caller: string },
): Share | null {
  const place = placeOf(`${agentId} ${caller}`)
  let end = 0
  for (const share of shares) {
    const start = share.startsAt ?? end
    end = start + hundredthsOf(share.percentage)
    if (place >= start && place < end) return share
  }
  return null
}

type Placed = { agent_version_id: string; traffic_percentage: number; starts_at: number | null }

/**
 * Where shares begin, in their order: each where it began before, if those before it leave that place and those behind it find theirs,
 * so that nobody changes versions because another version comes, grows or goes; else right behind the one before.
 */
export function startsOf(entries: readonly Omit<Placed, 'starts_at'>[], before: readonly Placed[]): number[] {
  const known = knownStarts(before)
  let left = entries.reduce((sum, { traffic_percentage }) => sum + hundredthsOf(traffic_percentage), 0)
  let end = 0
  return entries.map(({ agent_version_id, traffic_percentage }) => {
    const former = known.get(agent_version_id) ?? end
    const start = former >= end && former + left <= WHOLE ? former : end
    left -= hundredthsOf(traffic_percentage)
    end = start + hundredthsOf(traffic_percentage)
    return start
  })
}

function knownStarts(placed: readonly Placed[]): Map<string, number> {
  let end = 0
  return new Map(
    placed.map(({ agent_version_id, traffic_percentage, starts_at }) => {
      const start = starts_at ?? end
      end = start + hundredthsOf(traffic_percentage)
      return [agent_version_id, start]
    }),
  )
}

/** A whole number below 10,000, each as often as the others. */
function placeOf(text: string): number {
  return sha256(text).readUIntBE(0, 6) % WHOLE
}

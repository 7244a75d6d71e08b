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
 * Chooses by shares that are laid side by side from 0 to 100: whose share the caller falls into, or null behind the last.
 * The same caller falls on the same place of the same agent, so a first share that grows keeps everybody it had.
 *
 * @param caller is what the choice sticks to, such as a number.
 */
export function chooseShare<Share extends { percentage: number }>(
  shares: readonly Share[],
  { agentId, caller }: { agentId: string; caller: string },
): Share | null {
  const place = placeOf(`${agentId} ${caller}`)
  let end = 0
  for (const share of shares) {
    end += hundredthsOf(share.percentage)
    if (place < end) return share
  }
  return null
}

/** A whole number below 10,000, each as often as the others. */
function placeOf(text: string): number {
  return sha256(text).readUIntBE(0, 6) % WHOLE
}

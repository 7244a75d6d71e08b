import type { Comeback } from './comeback.ts'
import type { AfterLoss } from './options.ts'
import type { OwnerFigures } from './owner-watch.ts'

/** What one run measured. */
export type KillFigures = OwnerFigures & {
  afterLoss: AfterLoss
  /** The calls that the killed node had. */
  comebacks: Comeback[]
  /** All calls, of both nodes, that were live at the kill and then ended: by whom, as the carrier says it. */
  dropped: string[]
  /** Those that were over before it, in the same way. */
  overBefore: string[]
  /** Turns that had been shown before the kill, and what became of them. */
  turnsShown: number
  lost: string[]
  doubled: string[]
}

/** How soon after the kill every call has to go on: the carrier asks us at once, or we have to notice. */
export const RESUME_WITHIN_MS: Record<AfterLoss, number> = { 'next-verb': 2_000, silence: 6_000 }

/** The lines that tell what was measured. */
export function describeKill(figures: KillFigures): string[] {
  const { afterLoss, comebacks, overBefore, dropped, turnsShown, lost, doubled } = figures
  const [streams, audio, answers] = (['streamMs', 'audioMs', 'answerMs'] as const).map((which) =>
    spread(comebacks, which),
  )
  return [
    `after the loss: ${afterLoss}, ${comebacks.length} calls of the killed node, over before ${tally(overBefore)}`,
    `calls dropped ${tally(dropped)}`,
    `resumed ${comebacks.filter(hasResumed).length} of ${comebacks.length}`,
    `resumed p50/p99 ${streams} after the kill`,
    `first audio p50/p99 ${audio} after the kill, ${answers} after it or the caller's last words`,
    `turns lost ${lost.length} doubled ${doubled.length} (of ${turnsShown} shown before the kill)`,
    `owners per epoch max ${figures.ownersPerEpochMax}, epochs that fell ${figures.epochsFell}`,
  ]
}

/** A sentence for each bound that is broken. */
export function killFaults(figures: KillFigures): string[] {
  const withinMs = RESUME_WITHIN_MS[figures.afterLoss]
  const isLate = (ms: number | null) => ms === null || ms > withinMs
  const late = figures.comebacks.filter(({ streamMs, answerMs }) => isLate(streamMs) || isLate(answerMs)).length
  return [
    ...(figures.comebacks.length === 0 ? ['the killed node had no calls'] : []),
    ...(figures.dropped.length > 0 ? [`${figures.dropped.length} calls were dropped`] : []),
    ...(late > 0 ? [`${late} calls did not go on within ${withinMs} ms`] : []),
    ...(figures.turnsShown === 0 ? ['no turn was shown before the kill'] : []),
    ...[...figures.lost.map((turn) => `lost: ${turn}`), ...figures.doubled.map((turn) => `doubled: ${turn}`)],
    ...(figures.ownersPerEpochMax > 1 ? ['two nodes had one call in one epoch'] : []),
    ...(figures.epochsFell > 0 ? ['an epoch fell'] : []),
  ]
}

function hasResumed({ audioMs, isInProgress }: Comeback): boolean {
  return audioMs !== null && isInProgress
}

/** How many, and how many of each name. */
function tally(names: readonly string[]): string {
  const each = [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${name} ${all.length}`)
  return each.length === 0 ? '0' : `${names.length} (${each.join(', ')})`
}

/** The median and what 99 of 100 stay below. */
function spread(comebacks: readonly Comeback[], which: 'streamMs' | 'audioMs' | 'answerMs'): string {
  const sorted = comebacks.flatMap((each) => each[which] ?? []).toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  return sorted.length === 0 ? '-' : `${at(0.5)?.toFixed(0)}/${at(0.99)?.toFixed(0)} ms`
}

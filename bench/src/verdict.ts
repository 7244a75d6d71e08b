import type { Measurement } from './measure.ts'
import { median } from './stats.ts'

/** The relay with `ws` may cost so many times the relay on bare sockets; more, and the yardstick itself is slow. */
export const RATIO_LIMIT = 1.25
/** Beats of the load may be so late at p99; more, and what it measures is itself. A frame is 20 ms. */
export const LATE_P99_LIMIT_MS = 5

/** Why one round, every system once under the same number of calls, must not be believed. Empty when it may. */
export function voidReasons(round: readonly Measurement[]): string[] {
  return round.flatMap((one) => [...lateLoad(one), ...lossyYardstick(one)])
}

/** What the relay costs in floors, from one round; NaN when either is missing. */
export function relayOverFloor(round: readonly Measurement[]): number {
  const cpuOf = (role: Measurement['role']) => round.find((one) => one.role === role)?.cpuMsPerCallSecond ?? Number.NaN
  return cpuOf('relay') / cpuOf('floor')
}

/**
 * Why the yardstick is too slow to measure by, from all rounds at one number of calls: one alone says little, because what else
 * runs on the machine's caches costs a larger program more. Empty when it is not, or when there is none.
 */
export function slowYardstick(rounds: readonly (readonly Measurement[])[]): string[] {
  const ratio = median(rounds.map(relayOverFloor))
  return ratio > RATIO_LIMIT ? [`the relay took ${ratio.toFixed(2)} × the floor, over ${RATIO_LIMIT}`] : []
}

function lateLoad({ system, report }: Measurement): string[] {
  const { p99Ms } = report.load.lateness
  if (p99Ms <= LATE_P99_LIMIT_MS) return []
  return [`under ${system} the load was late by ${p99Ms.toFixed(1)} ms at p99, over ${LATE_P99_LIMIT_MS}`]
}

/** TCP loses nothing and neither do the relays, so a fault under them is the load's own. */
function lossyYardstick({ system, role, report }: Measurement): string[] {
  if (role === 'subject') return []
  const { up, down, faults } = report
  const counts = {
    lost: up.lost + down.lost,
    doubled: up.doubled + down.doubled,
    reordered: up.reordered + down.reordered,
    crossed: faults.crossed,
    damaged: faults.damaged,
    refused: faults.refused,
    unsent: faults.unsent,
    'without clear': faults.clearsMissing,
    'calls dropped': faults.callsDropped,
  }
  return Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`under ${system} ${count} ${what}`]))
}

import { type Holdings, handleChanges } from './holdings.ts'
import type { LoadReport } from './tally.ts'

/**
 * What the service held on to: without calls after the warm-up and at the end, and with all calls up at the beginning and
 * at the end of the long run.
 */
export type SoakFigures = { restBefore: Holdings; restAfter: Holdings; loadedBefore: Holdings; loadedAfter: Holdings }

const GROWTH_BYTES_MAX = 5 * 1_048_576

/** What is wrong after a soak, a sentence each; empty when nothing is. */
export function soakFaults(figures: SoakFigures, report: LoadReport): string[] {
  return [
    ...growth('without calls', figures.restBefore, figures.restAfter),
    ...growth('with all calls', figures.loadedBefore, figures.loadedAfter),
    ...Object.entries(handleChanges(figures.restBefore, figures.restAfter)).map(
      ([kind, change]) => `${change > 0 ? 'more' : 'fewer'} handles without calls: ${kind} ${signed(change)}`,
    ),
    ...callFaults(report),
  ]
}

/** The figures, a line each. */
export function describeSoak({ restBefore, restAfter, loadedBefore, loadedAfter }: SoakFigures): string[] {
  return [
    `heap without calls: ${mib(restBefore)} → ${mib(restAfter)} MiB`,
    `heap with all calls: ${mib(loadedBefore)} → ${mib(loadedAfter)} MiB`,
    `handles without calls: ${kinds(restBefore)} → ${kinds(restAfter)}`,
    `handles with all calls: ${kinds(loadedBefore)} → ${kinds(loadedAfter)}`,
  ]
}

function growth(when: string, before: Holdings, after: Holdings): string[] {
  const grownBytes = after.heapBytes - before.heapBytes
  if (grownBytes <= GROWTH_BYTES_MAX) return []
  return [`the heap ${when} grew by ${(grownBytes / 1_048_576).toFixed(1)} MiB, over 5`]
}

function callFaults({ up, down, faults, callsRefused }: LoadReport): string[] {
  const counts = {
    'frames lost': up.lost + down.lost + faults.unsent,
    'frames doubled': up.doubled + down.doubled,
    'frames crossed': faults.crossed,
    'frames damaged or out of order': faults.damaged + up.reordered + down.reordered,
    'messages that no carrier takes': faults.refused,
    'interruptions without clear': faults.clearsMissing,
    'calls dropped': faults.callsDropped,
    'calls refused': callsRefused,
  }
  return Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`]))
}

function mib({ heapBytes }: Holdings): string {
  return (heapBytes / 1_048_576).toFixed(1)
}

function kinds({ handles, poolConnections }: Holdings): string {
  const entries = Object.entries(handles).toSorted(([a], [b]) => a.localeCompare(b))
  const counts = entries.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return `${counts} (and ${poolConnections} to the database)`
}

function signed(change: number): string {
  return change > 0 ? `+${change}` : String(change)
}

import type { CrashResult } from './crash-round.ts'

const START_MS_MAX = 10_000
/** More would only scroll away the first. */
const SHOWN_MAX = 10

type Sum = 'lost' | 'doubledDials' | 'stuck' | 'leases'

/** What kills came to, in a line. One that could not be done, or not at its moment, is not counted among those reached. */
export function crashLine(results: readonly CrashResult[]): string {
  const sum = (which: Sum) => results.reduce((all, each) => all + each[which].length, 0)
  const count = (which: 'told' | 'repeats') => results.reduce((all, each) => all + each[which], 0)
  const again = results.filter(({ isTriedAgain }) => isTriedAgain).length
  return [
    `reached ${reachedOf(results)} of ${results.length - again} kills${again > 0 ? ` (${again} tried again)` : ''}`,
    `start max ${(Math.max(0, ...results.map(({ startMs }) => startMs)) / 1_000).toFixed(1)} s`,
    ...[`told ${count('told')}`, `webhooks again ${count('repeats')}`],
    ...[`lost ${sum('lost')}`, `doubled dials ${sum('doubledDials')}`, `stuck rows ${sum('stuck')}`],
  ].join(', ')
}

/** The same for each moment below the other, under their names. */
export function crashTable(rows: readonly (readonly [name: string, results: readonly CrashResult[]])[]): string[] {
  const cells = rows.map(([name, results]) => [name, ...crashLine(results).split(', ')])
  const widths = cells.reduce<number[]>((all, row) => row.map((cell, at) => Math.max(cell.length, all[at] ?? 0)), [])
  return cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function reachedOf(results: readonly CrashResult[]): number {
  return results.filter(({ isReached }) => isReached).length
}

/** A sentence for each bound that is broken, the first ones of each kind. */
export function crashFaults(results: readonly CrashResult[]): string[] {
  const late = results.filter(({ startMs }) => startMs > START_MS_MAX)
  const of = (what: string, which: Sum | 'failures') =>
    [...new Set(results.flatMap((each) => each[which]))].slice(0, SHOWN_MAX).map((each) => `${what}: ${each}`)
  return [
    ...momentFaults(results),
    ...late.map(({ startMs }) => `a start took ${Math.round(startMs)} ms`),
    ...of('could not be done', 'failures'),
    ...of('lost', 'lost'),
    ...of('dialled twice', 'doubledDials'),
    ...of('stuck', 'stuck'),
    ...of('a lease that is too long', 'leases'),
  ]
}

/** Kills that were done, but not at their moment: nothing is known of it then. */
function momentFaults(results: readonly CrashResult[]): string[] {
  if (reachedOf(results) === 0) return ['the moment never came']
  const last = results.filter(({ isTriedAgain }) => !isTriedAgain)
  const missed = last.filter(({ isReached, failures }) => !isReached && failures.length === 0).length
  return missed > 0 ? [`the moment did not come in ${missed} of ${last.length}`] : []
}

import type { CrashResult } from './crash-round.ts'

const START_MS_MAX = 10_000
/** More would only scroll away the first. */
const SHOWN_MAX = 10

type Sum = 'lost' | 'doubledDials' | 'stuck' | 'leases'

/** What the kills at one moment came to, in a line. */
export function crashLine(name: string, results: readonly CrashResult[]): string {
  const slowest = Math.max(0, ...results.map(({ startMs }) => startMs)) / 1_000
  const reached = results.filter(({ isReached }) => isReached).length
  const told = results.reduce((all, each) => all + each.told, 0)
  const kills = `kills ${reached} of ${results.length}, start max ${slowest.toFixed(1)} s`
  return `${name}  ${kills}, told ${told}, ${totalLine(results)}`
}

/** The sums. */
export function totalLine(results: readonly CrashResult[]): string {
  const sum = (which: Sum) => results.reduce((all, each) => all + each[which].length, 0)
  return `lost ${sum('lost')}, doubled dials ${sum('doubledDials')}, stuck rows ${sum('stuck')}`
}

/** A sentence for each bound that is broken, the first ones of each kind. */
export function crashFaults(results: readonly CrashResult[]): string[] {
  const late = results.filter(({ startMs }) => startMs > START_MS_MAX)
  const of = (what: string, which: Sum | 'failures') =>
    [...new Set(results.flatMap((each) => each[which]))].slice(0, SHOWN_MAX).map((each) => `${what}: ${each}`)
  return [
    ...(results.some(({ isReached }) => !isReached) ? ['the moment did not come'] : []),
    ...late.map(({ startMs }) => `a start took ${Math.round(startMs)} ms`),
    ...of('could not be done', 'failures'),
    ...of('lost', 'lost'),
    ...of('dialled twice', 'doubledDials'),
    ...of('stuck', 'stuck'),
    ...of('a lease that is too long', 'leases'),
  ]
}

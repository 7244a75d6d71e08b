import type { LoopSample } from '../platform/event-loop.ts'

/** How busy this process has been lately, and whether it therefore takes no new calls. Samples are a second each. */
export type Load = { readonly samples: readonly LoopSample[]; readonly isOverloaded: boolean }

/** Nothing is known yet: calls are taken. */
export const NO_LOAD: Load = { samples: [], isOverloaded: false }

/** So many samples are looked at together. */
const WINDOW = 5
/** Above either of these no call is taken any more … */
const SHED = { utilisation: 0.85, delayP99Ms: 20 }
/** … until both are below these. The gap keeps it from going to and fro with every call. */
const RESUME = { utilisation: 0.7, delayP99Ms: 10 }

/**
 * Adds a second's sample. What counts is the mean utilisation of five seconds and the median of their delays: a single
 * pause, as of the garbage collector, turns nobody away.
 */
export function withSample(load: Load, sample: LoopSample): Load {
  const samples = [...load.samples, sample].slice(-WINDOW)
  const utilisation = samples.reduce((sum, each) => sum + each.utilisation, 0) / samples.length
  const delayP99Ms = median(samples.map((each) => each.delayP99Ms))
  if (load.isOverloaded) {
    const isCalm = utilisation < RESUME.utilisation && delayP99Ms < RESUME.delayP99Ms
    return { samples, isOverloaded: !isCalm }
  }
  const isBusy = utilisation > SHED.utilisation || delayP99Ms > SHED.delayP99Ms
  return { samples, isOverloaded: samples.length === WINDOW && isBusy }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

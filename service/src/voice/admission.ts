import type { LoopSample } from '../platform/event-loop.ts'

/**
 * How busy this process has been lately, and whether it therefore takes no new calls. Samples are a second each; `seen` is how many
 * there were, as far as that is counted.
 */
export type Load = { readonly samples: readonly LoopSample[]; readonly seen: number; readonly isOverloaded: boolean }

/** Nothing is known yet: calls are taken. */
export const NO_LOAD: Load = { samples: [], seen: 0, isOverloaded: false }

/** So long a process that has just begun reads and compiles what it is made of. */
const WARM_UP = 15

/** So many samples are looked at together. */
const WINDOW = 5
/** Above either of these no call is taken any more … */
const SHED = { utilisation: 0.85, delayP99Ms: 20 }
/** … until both are below these. The gap keeps it from going to and fro with every call. */
const RESUME = { utilisation: 0.7, delayP99Ms: 10 }

/**
 * Adds a second's sample, in which there were calls or not. What counts is the mean utilisation of five seconds and the median of
 * their delays: a single pause, as of the garbage collector, turns nobody away.
 *
 * Without a call a late beat tells of others on the machine and of nothing that a caller would hear: an idle process takes
 * calls, and so does one that warms up.
 */
export function withSample(load: Load, sample: LoopSample, hasCalls: boolean): Load {
  const seen = Math.min(load.seen + 1, WARM_UP + 1)
  const samples = [...load.samples, judged(sample, { isWarm: seen > WARM_UP, hasCalls })].slice(-WINDOW)
  const utilisation = samples.reduce((sum, each) => sum + each.utilisation, 0) / samples.length
  const delayP99Ms = median(samples.map((each) => each.delayP99Ms))
  if (load.isOverloaded) {
    const isCalm = utilisation < RESUME.utilisation && delayP99Ms < RESUME.delayP99Ms
    return { samples, seen, isOverloaded: !isCalm }
  }
  const isBusy = utilisation > SHED.utilisation || delayP99Ms > SHED.delayP99Ms
  return { samples, seen, isOverloaded: samples.length === WINDOW && isBusy }
}

/** What of a sample this process is answerable for. */
function judged({ utilisation, delayP99Ms }: LoopSample, by: { isWarm: boolean; hasCalls: boolean }): LoopSample {
  return {
    utilisation: by.isWarm || by.hasCalls ? utilisation : 0,
    delayP99Ms: by.isWarm && by.hasCalls ? delayP99Ms : 0,
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

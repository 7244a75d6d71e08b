import type { Step } from './state.ts'
import { isVoiced } from './voicing.ts'

/** An answer of which nothing was heard for so long, and which is not over, is silent and does not only pause. */
const SILENT_MS = 2_500

/** One more answer is about to be counted that did not come, or broke off: of the first of them in a row it is kept which session it was. */
export function beginCount(step: Step): void {
  const { stall, earlierStalls, model } = step.state
  if (stall === null && earlierStalls === 0) step.set({ stallEpoch: model.epoch })
}

/** More of an answer has come, or its caller has taken the turn: that it stalled counts until one has ended as it should. */
export function keepStalls(step: Step): void {
  const { stall, earlierStalls } = step.state
  if (stall !== null) step.set({ stall: null, earlierStalls: earlierStalls + stall.count })
}

/**
 * The caller is about to cut the active answer short. One that was heard until then, or to its end, was all right; a caller who asks after one
 * that has long been silent does not begin its count anew, whatever has bridged the silence. One that thinks behind words which it has said
 * ahead is slow, and neither. To be called before the answer is cancelled.
 *
 * @returns whether it had gone silent.
 */
export function judgeCut(step: Step): boolean {
  const { active } = step.state.answers
  if (!active?.hasAudio || active.isCancelled) return false
  const silentMs = step.nowMs - active.heardUntilMs
  if (active.isWhole || silentMs <= 0) step.set({ earlierStalls: 0 })
  else if (active.preambleId === null && !active.hasTool && !isVoiced(step, active) && silentMs >= SILENT_MS) {
    beginCount(step)
    step.set({ earlierStalls: step.state.earlierStalls + 1 })
    return true
  }
  return false
}

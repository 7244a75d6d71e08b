import { sinceHeardMs } from '../playback.ts'
import type { Active } from './answers.ts'
import type { Step } from './state.ts'
import { isVoiced } from './voicing.ts'

/** An answer of which nothing was heard for so long, and which is not over, is silent and does not only pause. */
const SILENT_MS = 2_500

/** Whether a part of an answer has come: what stalls then has gone silent before its end. */
export function hasBegun(step: Step, active: Active | null): boolean {
  if (active === null || active.isCancelled) return false
  return active.hasAudio || (active.writtenItemIds.length > 0 && isVoiced(step, active))
}

/** An answer has gone silent before its end: so many have by now, one after the other. */
export function countBroken(step: Step): number {
  const brokenOff = step.state.brokenOff + 1
  step.set({ brokenOff })
  return brokenOff
}

/** More of an answer has come. That it was late counts until one has ended as it should: it may yet go silent, too. */
export function goesOn(step: Step): void {
  const { stall, brokenOff } = step.state
  if (stall !== null) step.set({ stall: null, brokenOff: Math.max(brokenOff, stall.count) })
}

/**
 * The active answer is about to be cut short. One that was heard until then, or to its end, was all right; a caller who asks after one
 * that has long been silent does not begin its count anew. To be called before the line is emptied.
 *
 * @returns whether it had gone silent.
 */
export function judgeCut(step: Step): boolean {
  const { answers, playback } = step.state
  const { active } = answers
  if (!active?.hasAudio || active.isCancelled) return false
  const silentMs = sinceHeardMs(playback, active.responseId, step.nowMs)
  if (active.isWhole || silentMs <= 0) step.set({ brokenOff: 0 })
  else if (!active.hasTool && !isVoiced(step, active) && silentMs >= SILENT_MS) {
    countBroken(step)
    return true
  }
  return false
}

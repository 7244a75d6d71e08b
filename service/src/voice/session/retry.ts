import type { Ask } from './answers.ts'
import { askFirst, askNext } from './asking.ts'
import { beginCount } from './earlier-stalls.ts'
import { giveModelUp, replaceOrGiveUp } from './model-session.ts'
import type { Step } from './state.ts'

/** The provider's code for a request that comes too soon. */
export const RATE_LIMITED = 'rate_limit_exceeded'
/** Answers that may fail to come, one after the other: asked once more, then of a new session. */
const MAX_FAILED = 2
/** How long a provider that has too much to do is left alone when it does not say. */
const LEFT_ALONE_MS = 1_000

/**
 * An answer has not come of what was asked for. It is asked for once more; then the model's session is replaced; then the
 * model is given up.
 *
 * @param isLimited the provider takes no requests for a moment: it is asked again when it does.
 */
export function askAgain(step: Step, wanted: Ask, isLimited: boolean): void {
  beginCount(step)
  const { stall, model } = step.state
  const count = (stall?.count ?? 0) + 1
  step.set({ stall: { count, sinceMs: stall?.sinceMs ?? step.nowMs } })
  askFirst(step, wanted)
  if (count > MAX_FAILED) return giveModelUp(step)
  if (isLimited) hold(step, Math.max(model.limitedUntilMs - step.nowMs, LEFT_ALONE_MS))
  if (count === MAX_FAILED) replaceOrGiveUp(step)
  else askNext(step)
}

function hold(step: Step, ms: number): void {
  step.setAnswers({ isHeld: true })
  step.do({ type: 'disarm', timer: 'stall' }, { type: 'arm', timer: 'retry', ms })
}

/** The provider takes requests again. */
export function letGo(step: Step): void {
  step.setAnswers({ isHeld: false })
  askNext(step)
}

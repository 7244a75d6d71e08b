import { answerOver } from './answer-over.ts'
import { cutOff } from './answering.ts'
import type { Active } from './answers.ts'
import { askFirst, askNext, cancelActive, changeActive, repeatRequest } from './asking.ts'
import { beginCount } from './earlier-stalls.ts'
import { giveModelUp, leaveStalled, MAX_STALLS } from './model-session.ts'
import { armStall, GIVE_UP_MS, owesAnswer, patienceMs, TIMER_SLACK_MS } from './stall-clock.ts'
import type { Step } from './state.ts'
import { restOf } from './unsaid.ts'

/** Nothing has come for too long: asked once more, then a new session, then the end. */
export function stalled(step: Step): void {
  const { ending, answers, runningTools, earlierStalls } = step.state
  if (runningTools.length > 0 || !owesAnswer(step)) return
  if (ending) return endWithout(step)
  if (answers.active?.isBroken) return leaveBroken(step, answers.active)
  const { count, sinceMs } = countStall(step)
  if (step.nowMs - sinceMs >= GIVE_UP_MS - TIMER_SLACK_MS) return giveModelUp(step, MAX_STALLS)
  // How long one that says nothing at all is asked is a matter of time alone.
  const stalls = earlierStalls > 0 ? earlierStalls + count : Math.min(count, MAX_STALLS)
  if (leaveStalled(step, stalls)) return
  if (answers.active) askAfresh(step, answers.active)
  else repeatRequest(step)
  armStall(step)
}

/** The caller has asked after one that had gone silent, and nothing says that it is over: it was counted then, and counts once. */
function leaveBroken(step: Step, active: Active): void {
  answerOver(step, active)
  cutOff(step, active)
}

function countStall(step: Step): { count: number; sinceMs: number } {
  beginCount(step)
  const { stall } = step.state
  const counted = { count: (stall?.count ?? 0) + 1, sinceMs: stall?.sinceMs ?? step.nowMs - patienceMs(step) }
  step.set({ stall: counted })
  return counted
}

/** The last words do not come: the call ends without them. */
function endWithout(step: Step): void {
  const { active } = step.state.answers
  cancelActive(step)
  if (active) answerOver(step, active)
  step.setAnswers({ asked: null, queue: [] })
}

/** Leaves an answer that does not go on. One that was cancelled long ago counts as over, though nothing said so. */
function askAfresh(step: Step, active: Active): void {
  if (active.isCancelled) {
    answerOver(step, active)
    return askNext(step)
  }
  if (active.isWhole) return callIn(step, active)
  const wanted = restOf(active)
  cancelActive(step)
  if (wanted) askFirst(step, wanted)
}

/** All of its words are here, and nothing says that it is over: the caller hears it out, the model is asked for the end. */
function callIn(step: Step, { responseId }: Active): void {
  changeActive(step, { isOverdue: true })
  step.command({ type: 'cancel', responseId })
}

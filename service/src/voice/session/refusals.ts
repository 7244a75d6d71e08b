import type { ModelEvent } from '../../platform/realtime/port.ts'
import { answerOver } from './answer-over.ts'
import { said } from './answering.ts'
import type { Active, Asked } from './answers.ts'
import { askFirst, askNext, changeActive } from './asking.ts'
import { modelLost } from './model-session.ts'
import { askAgain, RATE_LIMITED } from './retry.ts'
import type { Step } from './state.ts'

type Refused = Extract<ModelEvent, { type: 'refused' }>

/**
 * The provider would not do what we asked, or is in trouble. What matters is an answer that will not come: no other event
 * follows a refused request. All else changes nothing: a session
 * that has expired is closed as well.
 */
export function refused(step: Step, { requestId, code, fault }: Refused): void {
  const { model, answers } = step.state
  if (fault === 'fatal' || (fault === 'setup' && !model.isReady)) return modelLost(step, fault)
  const { asked, active } = answers
  if (requestId === null) return active?.isOverdue ? isOver(step, active) : undefined
  if (asked?.requestId === requestId) {
    return requestRefused(step, asked, { isInTheWay: fault === 'benign', isLimited: code === RATE_LIMITED })
  }
  // The server was answering by itself when it was asked: what is being said is not what was asked for.
  if (active?.asked?.requestId === requestId) tookForAsked(step, active.asked)
}

type Why = { isInTheWay: boolean; isLimited: boolean }

/**
 * An answer in its way is waited for, and so is a provider that has too much to do. Without either the server does not know what we
 * know: it is asked again, not for ever.
 */
function requestRefused(step: Step, { ask, isAbandoned, isRepeat }: Asked, { isInTheWay, isLimited }: Why): void {
  // The first request is alive, and that is what was wanted.
  if (isRepeat && isInTheWay) return
  step.setAnswers({ asked: null })
  if (isAbandoned) return askNext(step)
  askAgain(step, ask, isInTheWay || isLimited)
}

function tookForAsked(step: Step, asked: Asked): void {
  if (asked.isRepeat) return
  changeActive(step, { asked: null })
  if (!asked.isAbandoned) askFirst(step, asked.ask)
}

/** The model was told to end what it does not know of any more. */
function isOver(step: Step, active: Active): void {
  answerOver(step, active)
  step.set({ earlierStalls: 0 })
  said(step, active)
}

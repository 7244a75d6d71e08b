import { playApology } from './clips.ts'
import { beginEnding, disarm, leaveToCarrier } from './ending.ts'
import { isOutOfHands, type Step } from './state.ts'

/**
 * No model can be had: the caller is told so, by a clip, or by the carrier where there is none, which then takes the call elsewhere, or
 * ends it. A call that was ending anyway ends without its last words; one that others have, or are to have, goes on with them, and a
 * model is looked for once it is the agent's again.
 */
export function giveUp(step: Step): void {
  const { ending, phase } = step.state
  step.set({ speech: null, stall: null, earlierStalls: 0 })
  step.setAnswers({ asked: null, active: null, queue: [], isHeld: false })
  disarm(step, ['stall', 'model_setup', 'reconnect', 'retry', 'padding'])
  step.set({ model: { ...step.state.model, isReady: false, isGivenUp: true, next: null } })
  step.do({ type: 'hold_uplink' }, { type: 'close_model' })
  if (ending || isOutOfHands(step)) return
  if (phase !== 'detached' && playApology(step)) beginEnding(step, 'model_lost', true)
  else leaveToCarrier(step, false)
}

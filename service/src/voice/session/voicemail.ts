import { ask, exactly } from './asking.ts'
import { beginEnding, hangUp } from './ending.ts'
import { interrupt } from './interrupting.ts'
import { isOutOfHands, type Step } from './state.ts'

/**
 * A machine answered: the call ends at once, or with the message that is left on it. What a machine says stops nobody and is
 * not answered.
 */
export function machineAnswered(step: Step): void {
  const { plan, ending } = step.state
  // A person who has the call hears for themselves what answered it.
  if (ending || isOutOfHands(step)) return
  if (plan.voicemail === null) {
    beginEnding(step, 'voicemail', true)
    return hangUp(step)
  }
  interrupt(step)
  step.set({ plan: { ...plan, interruption: { ...plan.interruption, enabled: false } } })
  step.setAnswers({ queue: [] })
  ask(step, { why: 'goodbye', instructions: exactly(plan.voicemail), thenEnd: 'voicemail' })
}

import { wrapUp } from './silence.ts'
import { isOutOfHands, type Step } from './state.ts'

/** When the model is told that a budget will not last: four fifths. */
export const BUDGET_SHARE = 0.8
const RUNNING_OUT =
  'Four fifths of what this call may cost are used up. Bring the conversation to a close, without speaking of cost.'
const SPENT = 'This call has to end now. Say so without speaking of cost, and say goodbye, in one sentence.'

/**
 * Looked at after each event: at four fifths of its budget the model is told, at the end of it the call comes to its own. Who has
 * the call in place of the agent costs nothing, and is left alone.
 */
export function watchBudget(step: Step): void {
  const { plan, costUsd, budget, ending } = step.state
  if (plan.budgetUsd === null || costUsd === null || budget === 'spent' || ending || isOutOfHands(step)) return
  if (costUsd >= plan.budgetUsd) {
    step.set({ budget: 'spent' })
    return wrapUp(step, SPENT)
  }
  if (budget === 'told' || costUsd < plan.budgetUsd * BUDGET_SHARE) return
  step.set({ budget: 'told' })
  step.command({ type: 'system_message', text: RUNNING_OUT })
}

import { addNote } from './keeping.ts'
import { isOutOfHands, type Step } from './state.ts'
import { TIME_UP, withdrawGoodbye, wrapUp } from './wrapping-up.ts'

/** When the model is told that a budget will not last: four fifths. */
export const BUDGET_SHARE = 0.8
const RUNNING_OUT =
  'Four fifths of what this call may cost are used up. Bring the conversation to a close, without speaking of cost.'
const SPENT = 'This call has to end now. Say so without speaking of cost, and say goodbye, in one sentence.'

/**
 * Looked at after each event: at four fifths of its budget the model is told, at the end of it, or of the day's minutes, the call
 * comes to its own. Who has the call in place of the agent is left alone: the budget acts once the agent has it again.
 */
export function watchBudget(step: Step): void {
  const { timeUp, budget, ending, phase } = step.state
  // The end of the longest call is everybody's; whoever has the call elsewhere has its budget, too.
  if (ending || phase === 'ended' || timeUp === 'call') return
  if (isOutOfHands(step)) return budget === 'spent' ? suspend(step) : undefined
  if (budget === 'spent') return
  const share = spentShare(step)
  if (share < 1 && timeUp === null) return share < BUDGET_SHARE ? undefined : tell(step)
  step.set({ budget: 'spent' })
  wrapUp(step, share < 1 ? TIME_UP : SPENT)
}

/** How much of what the call may cost it has cost; 0 where that is not known, or not bounded. */
function spentShare({ state: { plan, costUsd } }: Step): number {
  if (plan.budgetUsd === null || costUsd === null) return 0
  return costUsd >= plan.budgetUsd ? 1 : costUsd / plan.budgetUsd
}

function tell(step: Step): void {
  if (step.state.budget === 'told') return
  step.set({ budget: 'told' })
  addNote(step, 'system', { text: RUNNING_OUT, isKept: false })
  step.command({ type: 'system_message', text: RUNNING_OUT })
}

/** Somebody takes the call while its goodbye is said: they are not hung up with it, and it is said anew when the agent is back. */
function suspend(step: Step): void {
  step.set({ budget: 'told' })
  withdrawGoodbye(step)
}

import { ask } from './asking.ts'
import { keepCall } from './held-end.ts'
import { settleMailbox } from './mailbox.ts'
import { openModel } from './model-session.ts'
import { isOutOfHands, type Step } from './state.ts'

/**
 * What the agent was to say is said by others meanwhile, or not at all.
 *
 * @param keepsBegun whether what is being asked for in another voice is still said.
 */
export function dropWaiting(step: Step, keepsBegun = false): void {
  const { queue } = step.state.answers
  step.setAnswers({ queue: queue.filter((one) => one.thenEnd === 'shutdown' || (keepsBegun && one.isInPlace)) })
}

/** The agent has the call again, which others had, and is told how to go on. */
export function comeBack(step: Step, instructions: string): void {
  step.set({ owedSinceMs: null })
  keepCall(step)
  dropWaiting(step)
  settleMailbox(step)
  // One that is to be opened a little later is opened now.
  if (!step.state.model.isReady) openAnew(step)
  ask(step, { why: 'back', instructions, thenEnd: null })
}

/** Looked at after each event: a model that was given up while others had the call is looked for again once the agent has it. */
export function seekModel(step: Step): void {
  const { model, ending, phase, detached } = step.state
  const isOver = ending !== null || phase === 'ended' || detached?.isHandedOver
  if (!model.isGivenUp || isOver || isOutOfHands(step)) return
  openAnew(step)
}

function openAnew(step: Step): void {
  step.set({ model: { ...step.state.model, failedAtMs: [], outSinceMs: null, downSinceMs: step.nowMs } })
  openModel(step)
}

import { ask, askNext } from './asking.ts'
import { silence } from './interrupting.ts'
import { isOutOfHands, type Step } from './state.ts'

/**
 * The agent is silent from now on: what it says is cut short, and it is asked for nothing but a supervisor's words and those that
 * end the call. It goes on listening.
 */
export function mute(step: Step): void {
  if (step.state.isMuted || step.state.ending) return
  step.set({ isMuted: true })
  tell(step)
  // What is heard is not the agent.
  if (!isOutOfHands(step)) silence(step)
}

/** The agent may speak again, and answers what the caller said last, if nobody has. */
export function unmute(step: Step): void {
  if (!step.state.isMuted) return
  const { owedSinceMs } = step.state
  step.set({ isMuted: false })
  tell(step)
  if (owedSinceMs !== null) ask(step, { why: 'turn', instructions: null, thenEnd: null })
  else askNext(step)
}

function tell(step: Step): void {
  const { phase, isMuted } = step.state
  step.do({ type: 'note', note: { type: 'muted', state: phase, isOn: isMuted } })
}

import type { Ask } from './answers.ts'
import { hasParted } from './held-end.ts'
import type { SessionState, Step } from './state.ts'
import { isVoiced } from './voicing.ts'

/** What the caller waits for: not for the first words, nor for what is said to break or to bridge a silence. */
const AWAITED: readonly Ask['why'][] = ['turn', 'tool', 'rest', 'back']

/**
 * Whether the caller waits for words that do not sound yet: for the answer to a turn, or for more of one, as behind a tool that runs or
 * was announced, or a session that was lost in the middle of it. A tool beside which the agent goes on talking is waited for by nobody, nor
 * is one behind which the call ends.
 */
export function isCallerWaiting(state: SessionState): boolean {
  const { owedSinceMs, answers, runningTools } = state
  const { asked, active, queue } = answers
  const isToolAwaited = runningTools.length > 0 && !hasParted(state)
  if (owedSinceMs !== null || isToolAwaited || queue.some(isAwaited)) return true
  if (asked && !asked.isAbandoned && isAwaited(asked.ask)) return true
  return !!active?.asked && !active.hasAudio && !active.isCancelled && isAwaited(active.asked.ask)
}

/**
 * Whether an answer has begun to sound of which more is to come, and would be missed: also where an item of it is whole, as of a model that
 * thinks behind what it has said ahead. A tool that it calls is waited for as such, and another voice may be late with what is written.
 */
export function isMidAnswer(step: Step): boolean {
  const { plan, answers } = step.state
  const { active } = answers
  if (!plan.bridgesGaps || !active?.asked || !isAwaited(active.asked.ask)) return false
  if (!active.hasAudio || active.isCancelled || active.hasTool) return false
  return active.preambleId !== null || !isVoiced(step, active)
}

function isAwaited({ why }: Ask): boolean {
  return AWAITED.includes(why)
}

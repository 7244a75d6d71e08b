import type { Step } from './state.ts'
import { isOnlySound } from './voicing.ts'

/** From the last sign of life to the apology. */
export const GIVE_UP_MS = 15_000
/** A timer may fire this much early. */
export const TIMER_SLACK_MS = 50
/** An answer that was cancelled is over within a round trip: so much longer, and the model does not hear us. */
const AFTER_CANCEL_MS = 2_000

/** Whether the model owes an answer: asked for or begun, or its session is being replaced because none came. */
export function owesAnswer(step: Step): boolean {
  const { answers, stall, model } = step.state
  const isBeingMade = answers.active !== null && !isOnlySound(step)
  return answers.asked !== null || isBeingMade || (stall !== null && !model.isReady)
}

/** How long the model may be silent from now on. */
export function patienceMs({ state }: Step): number {
  const { active } = state.answers
  return active?.isCancelled || active?.isOverdue ? AFTER_CANCEL_MS : state.plan.modelStallMs
}

/** Watches an answer: from its request, or its last audio, until it is over. Not while a tool runs, nor while nobody hears it. */
export function armStall(step: Step): void {
  const { stall, runningTools, phase } = step.state
  if (phase === 'detached' || runningTools.length > 0 || !owesAnswer(step)) return
  const leftMs = stall ? Math.max(1, stall.sinceMs + GIVE_UP_MS - step.nowMs) : GIVE_UP_MS
  step.do({ type: 'arm', timer: 'stall', ms: Math.min(patienceMs(step), leftMs) })
}
